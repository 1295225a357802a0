// Lists the pods, as far as one scrolls, or what is searched for among all of them, and shows both sides of a pod.
const { Texts: texts, Pods: pods } = JSON.parse(document.getElementById("list").textContent);
const table = document.getElementById("pods");

const element = (tag, ...children) => {
  const made = document.createElement(tag);
  made.append(...children.filter((child) => child !== ""));
  return made;
};
const numbers = (tag, ...children) => {
  const cell = element(tag, ...children);
  cell.className = "n";
  return cell;
};

// A side is where the pod is, its state, node, preemptor, attempts and message, and what scores decided: the plugins,
// and for each node its total and their scores.
function sideOf([, state, node, by, attempts, message, plugins, ...scored]) {
  const all = [element("b", texts[state]), texts[node] && " on " + texts[node], texts[by] && " by " + texts[by]];
  if (attempts) all.push(element("small", `, ${attempts} ${attempts === 1 ? "attempt" : "attempts"}`));
  if (texts[message]) all.push(element("p", texts[message]));
  if (plugins !== undefined) all.push(scoresOf(texts[plugins].split("\n"), scored));
  return all;
}

function scoresOf(plugins, scored) {
  const head = element("tr", element("th", "Scores"), ...scored.map(([node]) => numbers("th", texts[node])));
  const rows = plugins.map((plugin, i) => element("tr", element("td", plugin), ...scored.map((scores) => numbers("td", scores[i + 2]))));
  const total = element("tr", element("th", "Total"), ...scored.map(([, sum]) => numbers("td", element("b", sum))));
  const region = element("div", element("table", element("thead", head), element("tbody", ...rows, total)));
  region.className = "scroll";
  for (const [name, value] of [["tabindex", 0], ["role", "region"], ["aria-label", "Scores"]]) region.setAttribute(name, value);
  return region;
}

function rowOf(pod) {
  const [namespace, name, kind, word, plugin, reason, follows, , a, b] = pod;
  const row = document.getElementById("row").content.firstElementChild.cloneNode(true);
  const [title, outcome, onA, onB, why] = row.children;
  title.querySelector("small").textContent = texts[namespace] + "/";
  title.firstChild.append(texts[name]);
  outcome.querySelector("rect").setAttribute("class", texts[kind]);
  outcome.append(texts[word]);
  onA.textContent = texts[a[0]];
  onB.textContent = texts[b[0]];
  if (texts[plugin]) why.append(element("b", texts[plugin]), " ");
  why.append(texts[reason]);
  if (follows) why.append(" ", element("small", "knock-on effect"));
  row.pod = pod;
  return row;
}

if (table) {
  const find = document.getElementById("find"), follows = document.getElementById("follows"), found = document.getElementById("found");
  const body = table.tBodies[0], rest = document.getElementById("rest");
  const said = pods.map(([namespace, name, , word, plugin, reason, effect, , a, b]) =>
    [texts[namespace] + "/" + texts[name], texts[word], texts[a[0]], texts[b[0]], texts[plugin], texts[reason], effect ? "knock-on effect" : ""].join(" ").toLowerCase());
  let left = [];
  const more = new IntersectionObserver(([at]) => {
    if (!at.isIntersecting || !left.length) return;
    body.append(...left.splice(0, 100).map(rowOf));
    more.unobserve(rest);
    more.observe(rest); // it may still be in sight
  }, { rootMargin: "500px" });
  const filter = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = pods.filter((_, i) => words.every((word) => said[i].includes(word)));
    const hidden = follows.checked ? 0 : matches.filter((pod) => pod[7]).length;
    left = words.length ? matches : matches.filter((pod) => follows.checked || !pod[7]);
    found.textContent = left.length === pods.length ? `${left.length} pods` : `${left.length} of ${pods.length} pods`;
    if (hidden) found.textContent += words.length ? `; ${hidden} of them are knock-on effects, else hidden` : `; ${hidden} knock-on effects are hidden`;
    body.replaceChildren(...left.splice(0, 100).map(rowOf));
    more.unobserve(rest);
    more.observe(rest);
  };
  const toggle = (event) => {
    const row = event.target.closest("tr.pod");
    if (!row) return;
    const button = row.querySelector("button");
    const open = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", open);
    if (!open) return row.nextElementSibling.remove();
    const sides = document.getElementById("sides").content.firstElementChild.cloneNode(true);
    sides.querySelectorAll("dd").forEach((side, i) => side.append(...sideOf(row.pod[8 + i]).filter((part) => part !== "")));
    row.after(sides);
  };
  find.addEventListener("input", filter);
  follows.addEventListener("change", filter);
  table.addEventListener("click", toggle);
  filter();
}
