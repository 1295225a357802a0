// Filters the list of pods, and shows both sides of the one that is chosen.
const table = document.getElementById("pods");
if (table) {
  const find = document.getElementById("find"), follows = document.getElementById("follows"), found = document.getElementById("found");
  const pods = [...table.querySelectorAll("tr[tabindex]")];
  const open = (row, wanted) => {
    row.setAttribute("aria-expanded", wanted);
    row.nextElementSibling.hidden = !wanted;
  };
  const filter = () => {
    const words = find.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const row of pods) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word)) || (!follows.checked && "follows" in row.dataset);
      if (row.hidden) open(row, false); else shown++;
    }
    found.textContent = shown === pods.length ? `${shown} pods` : `${shown} of ${pods.length} pods`;
  };
  const toggle = (event) => {
    const row = event.target.closest("tr[tabindex]");
    if (row) open(row, row.getAttribute("aria-expanded") !== "true");
  };
  find.addEventListener("input", filter);
  follows.addEventListener("change", filter);
  table.addEventListener("click", toggle);
  table.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    toggle(event);
  });
  filter();
}
