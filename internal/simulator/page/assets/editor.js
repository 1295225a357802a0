// The YAML editor: a textarea with line numbers, and marks on the lines with problems.
"use strict";

htmx.onLoad((root) => {
  const code = root.matches?.(".code") ? root : root.querySelector?.(".code");
  if (code) wire(code);
  const problems = root.matches?.("#problems") ? root : root.querySelector?.("#problems");
  if (problems) mark(problems);
  const count = root.querySelector?.("#count");
  if (count) {
    const pattern = root.querySelector("#pattern");
    const several = () => { pattern.disabled = !(Number(count.value) > 1); };
    count.addEventListener("input", several);
    several();
  }
});

function wire(code) {
  const text = code.querySelector("textarea");
  const gutter = code.querySelector(".gutter");
  const rollout = code.closest("form").querySelector("#try-rollout");
  const number = () => {
    const lines = text.value.split("\n").length;
    while (gutter.childElementCount > lines) gutter.lastElementChild.remove();
    while (gutter.childElementCount < lines) {
      const line = document.createElement("span");
      line.textContent = gutter.childElementCount + 1;
      gutter.append(line);
    }
    gutter.scrollTop = text.scrollTop;
    if (rollout) rollout.disabled = text.value === text.form.original.value;
  };
  text.addEventListener("input", number);
  text.addEventListener("scroll", () => { gutter.scrollTop = text.scrollTop; });
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing) return;
    const before = text.value.slice(0, text.selectionStart);
    const indent = before.slice(before.lastIndexOf("\n") + 1).match(/^ */)[0];
    if (!indent) return;
    event.preventDefault();
    document.execCommand("insertText", false, "\n" + indent); // the browser can undo it, unlike .value
  });
  number();
}

// A ready-made text replaces the current one as if somebody had typed it: so the browser can
// undo it.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-ready-made]");
  if (!button) return;
  const text = button.closest("form").querySelector(".code textarea");
  text.focus();
  text.select();
  document.execCommand("insertText", false, button.dataset.readyMade);
  text.offered = text.value; // as it is before edits
  text.setSelectionRange(0, 0);
  text.scrollTop = 0;
});

// mark marks the lines of the problems in the gutter.
function mark(problems) {
  const code = problems.closest("form")?.querySelector(".code");
  if (!code) return;
  for (const line of code.querySelectorAll(".gutter .bad")) line.classList.remove("bad");
  for (const item of problems.querySelectorAll("[data-line]")) {
    code.querySelector(".gutter").children[item.dataset.line - 1]?.classList.add("bad");
  }
  problems.querySelector("[data-to-line]")?.click();
  problems.scrollIntoView({ block: "nearest" });
}

// The line number of a problem selects the line.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-to-line]");
  const text = button?.closest("form")?.querySelector(".code textarea");
  if (!text) return;
  const lines = text.value.split("\n");
  const index = Math.min(Number(button.dataset.toLine), lines.length) - 1;
  const start = lines.slice(0, index).reduce((sum, line) => sum + line.length + 1, 0);
  text.focus({ preventScroll: true });
  text.setSelectionRange(start, start + lines[index].length);
  text.scrollTop = (text.scrollHeight / lines.length) * Math.max(0, index - 4);
});
