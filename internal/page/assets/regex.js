// The regex field of a pod's form: it and the annotation in the YAML follow each
// other, and below it stands which of the present nodes it matches.
"use strict";

const annotation = "scheduler.wasmkwokwizardry.io/regex";
const annotationLine = /^( +)(["']?)scheduler\.wasmkwokwizardry\.io\/regex\2 *:(?: +(.*?))? *$/m;

htmx.onLoad((root) => {
  const field = root.querySelector?.("[data-regex]");
  if (!field) return;
  const form = field.closest("form");
  const input = field.querySelector("input");
  const text = () => form.querySelector(".code textarea");
  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => preview(field, pattern(text().value), misplaced(text().value)), 120);
  };
  const follow = () => {
    input.value = pattern(text().value) ?? "";
    later();
  };
  input.addEventListener("input", () => {
    text().value = annotate(text().value, input.value);
    text().dispatchEvent(new Event("input"));
    later();
  });
  form.addEventListener("input", (event) => { if (event.target === text()) follow(); });
  follow();
});

// pattern reads the annotation out of the YAML, or null if there is none.
function pattern(yaml) {
  const found = yaml.match(annotationLine);
  if (!found) return null;
  const value = found[3] ?? "";
  if (/^'.*'$/.test(value)) return value.slice(1, -1).replaceAll("''", "'");
  if (/^".*"$/.test(value)) {
    try { return JSON.parse(value); } catch { return value.slice(1, -1); }
  }
  return value;
}

// misplaced reports whether the annotation stands elsewhere than in
// metadata.annotations, where nobody looks for it.
function misplaced(yaml) {
  const found = yaml.match(annotationLine);
  if (!found) return false;
  const parents = [];
  let indent = found[1].length;
  for (const line of yaml.slice(0, found.index).split("\n").reverse()) {
    if (/^---( |$)/.test(line)) break;
    const [, spaces, key] = line.match(/^( *)(?:- )?["']?([^\s#"':]+)["']?:/) ?? [];
    if (key && spaces.length < indent) {
      parents.push(key);
      indent = spaces.length;
    }
  }
  return parents.join(" ") !== "annotations metadata";
}

// annotate writes the annotation into the YAML, or takes it out if it is empty.
function annotate(yaml, value) {
  const found = yaml.match(annotationLine);
  const quoted = "'" + value.replaceAll("'", "''") + "'";
  if (found && misplaced(yaml)) {
    return annotate(yaml.slice(0, found.index) + yaml.slice(found.index + found[0].length + 1), value);
  }
  if (found && value) return yaml.replace(annotationLine, () => `${found[1]}${annotation}: ${quoted}`);
  if (found) {
    return yaml.replace(found[0] + "\n", "").replace(/^ +annotations: *\n(?! {3,})/m, "");
  }
  if (!value) return yaml;
  const line = `    ${annotation}: ${quoted}\n`;
  const annotations = yaml.match(/^metadata: *\n(?: .*\n)*? {2}annotations: *\n/m);
  if (annotations) return yaml.replace(annotations[0], () => annotations[0] + line);
  return yaml.replace(/^metadata: *\n/m, (head) => head + "  annotations:\n" + line);
}

let asked = 0;

async function preview(field, value, stray) {
  const box = field.querySelector(".preview");
  const say = (tone, ...parts) => {
    box.className = "preview tone-" + tone;
    box.replaceChildren(...parts);
  };
  const mine = ++asked;
  if (stray) return say("failing", "The annotation does not stand below “annotations:” in “metadata:”, so no scheduler would see it. Type the regex here, and it is put there.");
  if (value === null) return say("quiet", "Without one, any node may.");
  let answer;
  try {
    const response = await fetch("/api/v1/regex/preview", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ pattern: value }),
    });
    answer = await response.json();
  } catch {
    return say("quiet", "No preview: the simulator does not answer.");
  }
  if (mine !== asked) return; // an answer to a newer question is on its way
  if (answer.error) return say("failing", answer.error);
  const matches = answer.matches ?? [];
  const names = document.createElement("ul");
  for (const name of matches.slice(0, 12)) names.append(Object.assign(document.createElement("li"), { textContent: name }));
  if (matches.length > 12) names.append(Object.assign(document.createElement("li"), { className: "more", textContent: `and ${matches.length - 12} more` }));
  const nodes = answer.total === 1 ? "1 node" : answer.total + " nodes";
  const head = document.createElement("p");
  head.textContent = matches.length
    ? `Matches ${matches.length} of ${nodes}:`
    : `Matches none of ${nodes} at present: the pod would wait.`;
  say(matches.length ? "fine" : "waiting", head, names);
}
