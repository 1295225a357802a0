// The regex field of a pod's form: it and the annotation in the YAML follow each
// other, and below it stands which of the present nodes it matches. What to exclude
// stands in the YAML only, and is counted.
"use strict";

const usualKey = "scheduler.wasmkwokwizardry.io/regex";
const usualExclude = "scheduler.wasmkwokwizardry.io/regex-exclude";
const lineOf = (key) => new RegExp(`^( +)(["']?)${key.replaceAll(".", "\\.")}\\2 *:(?: +(.*?))? *$`, "m");

htmx.onLoad((root) => {
  const field = root.querySelector?.("[data-regex]");
  if (!field) return;
  const form = field.closest("form");
  const input = field.querySelector("input");
  const text = () => form.querySelector(".code textarea");
  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const before = keyIn(field, text().value);
      await preview(field, text().value);
      if (keyIn(field, text().value) !== before) follow(); // another scheduler
    }, 120);
  };
  const follow = () => {
    input.value = pattern(text().value, keyIn(field, text().value)) ?? "";
    later();
  };
  input.addEventListener("input", () => {
    text().value = annotate(text().value, keyIn(field, text().value), input.value);
    text().dispatchEvent(new Event("input"));
    later();
  });
  form.addEventListener("input", (event) => { if (event.target === text()) follow(); });
  follow();
});

// keysOf are the annotations that the scheduler reads.
const keysOf = (field) => field.dataset.annotations.split(" ").filter(Boolean);

// keyIn is the annotation that the field stands for: of those that the scheduler
// reads the one that is in the YAML, or the first.
function keyIn(field, yaml) {
  const keys = keysOf(field);
  return keys.find((key) => pattern(yaml, key) !== null) ?? keys[0] ?? usualKey;
}

// excludeIn is the annotation of what to exclude that is in the YAML, of those that
// the scheduler reads, or the first.
function excludeIn(field, yaml) {
  const keys = field.dataset.excluding.split(" ").filter(Boolean);
  return keys.find((key) => pattern(yaml, key) !== null) ?? keys[0] ?? usualExclude;
}

// pattern reads an annotation out of the YAML, or null if it is not there.
function pattern(yaml, key) {
  const found = yaml.match(lineOf(key));
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
function misplaced(yaml, key) {
  const found = yaml.match(lineOf(key));
  if (!found) return false;
  const parents = [];
  let indent = found[1].length;
  for (const line of yaml.slice(0, found.index).split("\n").reverse()) {
    if (/^---( |$)/.test(line)) break;
    const [, spaces, name] = line.match(/^( *)(?:- )?["']?([^\s#"':]+)["']?:/) ?? [];
    if (name && spaces.length < indent) {
      parents.push(name);
      indent = spaces.length;
    }
  }
  return parents.join(" ") !== "annotations metadata";
}

// annotate writes an annotation into the YAML, or takes it out if it is empty.
function annotate(yaml, key, value) {
  const found = yaml.match(lineOf(key));
  const quoted = "'" + value.replaceAll("'", "''") + "'";
  if (found && misplaced(yaml, key)) {
    return annotate(yaml.slice(0, found.index) + yaml.slice(found.index + found[0].length + 1), key, value);
  }
  if (found && value) return yaml.replace(lineOf(key), () => `${found[1]}${key}: ${quoted}`);
  if (found) {
    return yaml.replace(found[0] + "\n", "").replace(/^ +annotations: *\n(?! {3,})/m, "");
  }
  if (!value) return yaml;
  const line = `    ${key}: ${quoted}\n`;
  const annotations = yaml.match(/^metadata: *\n(?: .*\n)*? {2}annotations: *\n/m);
  if (annotations) return yaml.replace(annotations[0], () => annotations[0] + line);
  return yaml.replace(/^metadata: *\n/m, (head) => head + "  annotations:\n" + line);
}

let asked = 0;

async function preview(field, yaml) {
  const box = field.querySelector(".preview");
  const say = (tone, ...parts) => {
    box.className = "preview tone-" + tone;
    box.replaceChildren(...parts);
  };
  const scheduler = yaml.match(/^ +schedulerName: *["']?([^"'#\s]+)/m)?.[1] ?? "default-scheduler";
  const asks = pattern(yaml, keyIn(field, yaml));
  const excludes = pattern(yaml, excludeIn(field, yaml));
  const mine = ++asked;
  let answer;
  try {
    const response = await fetch("/api/v1/regex/preview", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ pattern: asks ?? (excludes === null ? "" : null), exclude: excludes, scheduler }),
    });
    answer = await response.json();
    if (!response.ok) return say("failing", answer.message);
  } catch {
    return say("quiet", "No preview: the simulator does not answer.");
  }
  if (mine !== asked) return; // an answer to a newer question is on its way
  field.dataset.annotations = answer.annotations.join(" ");
  field.dataset.excluding = answer.excludeAnnotations.join(" ");
  const keys = keysOf(field);
  const key = keyIn(field, yaml);
  field.querySelector(".key-read").textContent = key;
  if (misplaced(yaml, key)) {
    return say("failing", "The annotation does not stand below “annotations:” in “metadata:”, so no scheduler would see it. Type the regex here, and it is put there.");
  }
  const excludeKey = excludeIn(field, yaml);
  if (misplaced(yaml, excludeKey)) {
    return say("failing", `${excludeKey} does not stand below “annotations:” in “metadata:”, so no scheduler would see it.`);
  }
  if (!keys.length) return say("waiting", `Nothing in the scheduler “${scheduler}”, as it runs now, reads a regex: any node may run the pod.`);
  const value = pattern(yaml, key);
  const excluded = pattern(yaml, excludeKey);
  if (value !== asks || excluded !== excludes) return; // it stands under another key; that is asked for next
  if (value === null && pattern(yaml, usualKey) !== null) {
    return say("waiting", `The scheduler reads ${key}, not ${usualKey}: any node may run the pod.`);
  }
  if (value === null && excluded === null) return say("quiet", "Without one, any node may.");
  if (answer.error) return say("failing", answer.error);
  const matches = answer.matches ?? [];
  const names = document.createElement("ul");
  for (const name of matches.slice(0, 12)) names.append(Object.assign(document.createElement("li"), { textContent: name }));
  if (matches.length > 12) names.append(Object.assign(document.createElement("li"), { className: "more", textContent: `and ${matches.length - 12} more` }));
  const nodes = answer.total === 1 ? "1 node" : answer.total + " nodes";
  const head = document.createElement("p");
  const without = excluded === null ? "" : ", without those that are excluded";
  head.textContent = matches.length
    ? `Matches ${matches.length} of ${nodes}${without}:`
    : `Matches none of ${nodes} at present${without}: the pod would wait.`;
  const notes = (answer.notes ?? []).map((note) => Object.assign(document.createElement("p"), { className: "note", textContent: note + "." }));
  say(matches.length && !notes.length ? "fine" : "waiting", ...notes, head, names);
}
