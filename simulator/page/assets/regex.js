// The regex field of a pod's form: the field and the annotation in the YAML follow each other,
// and a preview lists the current nodes that match. The regex to exclude nodes is in the YAML
// only; the preview applies it.
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

// keyIn is the annotation of the field: of those that the scheduler reads, the one in the YAML,
// or the first.
function keyIn(field, yaml) {
  const keys = keysOf(field);
  return keys.find((key) => pattern(yaml, key) !== null) ?? keys[0] ?? usualKey;
}

// excludeIn is the same for the annotation of the nodes to exclude.
function excludeIn(field, yaml) {
  const keys = field.dataset.excluding.split(" ").filter(Boolean);
  return keys.find((key) => pattern(yaml, key) !== null) ?? keys[0] ?? usualExclude;
}

// pattern reads an annotation in the YAML, or null if it is missing.
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

// misplaced reports whether the annotation is outside of metadata.annotations, where nobody
// reads it.
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

// annotate writes an annotation into the YAML, or removes an empty one.
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
    return say("quiet", "No preview: the simulator does not respond.");
  }
  if (mine !== asked) return; // a newer request is on its way
  field.dataset.annotations = answer.annotations.join(" ");
  field.dataset.excluding = answer.excludeAnnotations.join(" ");
  const keys = keysOf(field);
  const key = keyIn(field, yaml);
  field.querySelector(".key-read").textContent = key;
  if (misplaced(yaml, key)) {
    return say("failing", "The annotation is not in “annotations:” under “metadata:”, so no scheduler reads it. Type the regex here to move it.");
  }
  const excludeKey = excludeIn(field, yaml);
  if (misplaced(yaml, excludeKey)) {
    return say("failing", `${excludeKey} is not in “annotations:” under “metadata:”, so no scheduler reads it.`);
  }
  if (!keys.length) return say("pending", `No plugin of the scheduler “${scheduler}” reads a regex: any node may run the pod.`);
  const value = pattern(yaml, key);
  const excluded = pattern(yaml, excludeKey);
  if (value !== asks || excluded !== excludes) return; // it has another key, which is asked for next
  if (value === null && pattern(yaml, usualKey) !== null) {
    return say("pending", `The scheduler reads ${key}, not ${usualKey}: any node may run the pod.`);
  }
  if (value === null && excluded === null) return say("quiet", "No regex: any node may run the pod.");
  if (answer.error) return say("failing", answer.error);
  const matches = answer.matches ?? [];
  const names = document.createElement("ul");
  for (const name of matches.slice(0, 12)) names.append(Object.assign(document.createElement("li"), { textContent: name }));
  if (matches.length > 12) names.append(Object.assign(document.createElement("li"), { className: "more", textContent: `and ${matches.length - 12} more` }));
  const nodes = answer.total === 1 ? "1 node" : answer.total + " nodes";
  const head = document.createElement("p");
  const without = excluded === null ? "" : " after exclusion";
  head.textContent = matches.length
    ? `Matches ${matches.length} of ${nodes}${without}:`
    : `Matches none of ${nodes} now${without}: the pod would stay pending.`;
  const notes = (answer.notes ?? []).map((note) => Object.assign(document.createElement("p"), { className: "note", textContent: note + "." }));
  say(matches.length && !notes.length ? "fine" : "pending", ...notes, head, names);
}
