// Dialogs and the browser's history: the address names the open dialog. So Back closes it,
// Forward opens it again, and a reload shows it as a page of its own. A form with edits asks
// before it closes.
"use strict";

// An entry of the history has the address of the view in the panel and in the editor, the depth
// at which each was opened, and the address of the page under them. An entry without these is
// a page by itself.
const layers = ["panel", "editor"]; // the later above the earlier
const address = () => location.pathname + location.search;
let under = address();
const underTitle = document.title;
let shown = {};
if (history.state?.under) history.replaceState(null, ""); // the server has made a page of it
document.body.addEventListener("htmx:replacedInHistory", () => { under = address(); });

// Steps through the history are asynchronous: one at a time.
let step = Promise.resolve();
let quietly = false; // whether to ignore the next entry
function go(delta) {
  step = step.then(() => new Promise((done) => {
    addEventListener("popstate", done, { once: true });
    setTimeout(done, 10000); // there was nothing to go to
    history.go(delta);
  }));
}

// A link with data-dialog opens its view in that dialog. With a modifier key it is an ordinary
// link to a page.
document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const close = event.target.closest("[data-close]");
  if (close) return void leave(close.closest("dialog"), close.closest("form.form"));
  const link = event.target.closest("a[data-dialog]");
  if (!link) return;
  event.preventDefault();
  link.closest("[popover]")?.hidePopover();
  open(link.dataset.dialog, link.getAttribute("href"), link);
});

async function open(id, href, link) {
  const dialog = byId(id);
  if (!(await mayLose(dialog))) return;
  await step;
  if (!(await load(id, href))) return;
  if (link.id && !dialog.contains(link)) dialog.dataset.from = link.id;
  if (!shown.depth) history.replaceState(null, ""); // htmx would take it for one of its own
  const depth = (shown.depth ?? 0) + 1;
  shown = { ...shown, under, depth, [id]: href, since: { [id]: depth, ...shown.since } };
  history.pushState(shown, "", href);
  entitle();
}

// load puts a view into a dialog and opens it.
async function load(id, href) {
  const dialog = byId(id);
  const body = byId(id + "-body");
  try {
    const response = await fetch(href, { headers: { "HX-Request": "true" } });
    const view = await response.text();
    if (!response.ok) throw new Error(view);
    setAside(body.querySelector("[data-aside]"));
    htmx.swap(body, view, { swapStyle: "innerHTML", swapDelay: 0, settleDelay: 0 });
  } catch (error) {
    notice(error instanceof TypeError ? unanswered : error.message);
    return false;
  }
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  (body.querySelector("[data-first]") ?? body.querySelector("h1"))?.focus();
  return true;
}

function entitle() {
  const top = layers.findLast((id) => shown[id]);
  const name = top && byId(top + "-body").querySelector("h1")?.textContent;
  document.title = name ? name + " · Scheduling simulator" : underTitle;
}

// close closes a dialog, and steps back in the history to where it was not open.
function close(dialog) {
  const since = shown.since?.[dialog.id];
  dialog.close();
  if (since) go(since - 1 - shown.depth);
}

// leave closes a dialog, or leaves the page of a form. It asks first if edits would be lost.
async function leave(dialog, form) {
  if (!(await mayLose(dialog ?? document))) return;
  if (dialog) return close(dialog);
  quit(form);
}

// quit leaves the page of a form.
let quitting = false;
function quit(form) {
  quitting = true;
  location.assign(form?.dataset.after ?? "/");
}

// mayLose asks if edits would be lost.
async function mayLose(root) {
  return !unsaved(root) || ask("Discard your changes?", "Discard");
}

// unsaved reports whether a form has edits that were not submitted. Forms in closed dialogs do
// not count.
function unsaved(root) {
  const changed = (field) => {
    if (!field.name || field.hidden) return false;
    if (field.type === "file") return field.files.length > 0;
    return "defaultValue" in field && field.value !== field.defaultValue && field.value !== field.offered;
  };
  const done = (form) => form.closest("dialog:not([open])") || form.querySelector("[data-aside], [data-sent]");
  return [...root.querySelectorAll("form.form")].some((form) => !done(form) && [...form.elements].some(changed));
}

addEventListener("beforeunload", (event) => {
  if (!quitting && unsaved(document)) event.preventDefault();
});

// If the response to a form redirects, its edits are submitted.
document.body.addEventListener("htmx:beforeOnLoad", (event) => {
  if (event.detail.xhr.getResponseHeader("HX-Redirect")) quitting = true;
});

addEventListener("popstate", async () => {
  if (quietly) {
    quietly = false;
    return;
  }
  const wanted = history.state?.under ? history.state : {};
  if ((wanted.under ?? address()) !== under) {
    quitting = true;
    return location.reload();
  }
  const editor = byId("editor");
  if (editor.open && wanted.editor !== shown.editor && unsaved(editor)) {
    quietly = true;
    go((shown.depth ?? 0) - (wanted.depth ?? 0)); // stay until the question is answered
    if (await mayLose(editor)) close(editor);
    return;
  }
  arrange(wanted);
});

// arrange opens and closes dialogs as an entry of the history says.
async function arrange(wanted) {
  const before = shown;
  shown = wanted;
  for (const id of layers.toReversed()) {
    if (!wanted[id] && byId(id).open) byId(id).close();
  }
  for (const id of layers) {
    if (wanted[id] && (wanted[id] !== before[id] || !byId(id).open)) await load(id, wanted[id]);
  }
  entitle();
}

for (const dialog of document.querySelectorAll("dialog")) {
  const body = byId(dialog.id + "-body");
  // The event comes with the next frame: the dialog may be open again by then.
  if (body) dialog.addEventListener("close", () => {
    if (dialog.open) return;
    setAside(body.querySelector("[data-aside]"));
    body.replaceChildren(); // so that its views stop asking
    if (document.activeElement === document.body) byId(dialog.dataset.from)?.focus(); // the link may have been redrawn
  });
  dialog.addEventListener("mousedown", (event) => {
    if (event.target === dialog && dialog.id === "panel") leave(dialog); // beside the drawer
  });
  dialog.addEventListener("cancel", (event) => {
    if (event.target !== dialog) return; // of a field for files
    event.preventDefault();
    dismiss(dialog);
  });
}

// Escape is handled before the browser does: on a second Escape the browser would close the
// dialog without a question. A view that is a page by itself closes, too.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing || event.defaultPrevented || document.querySelector(".menu:popover-open")) return;
  const top = ["confirm", "editor", "panel"].map(byId).find((dialog) => dialog.open);
  const page = byId("main").querySelector("[data-close]");
  if (!top && !page) return;
  event.preventDefault();
  if (top) dismiss(top);
  else page.click();
});

function dismiss(dialog) {
  if (dialog.id === "confirm") answered(false);
  else leave(dialog);
}

// The server reports that a form is done.
document.body.addEventListener("done", (event) => {
  const dialog = event.target.closest("dialog");
  const form = event.target.closest("form.form");
  if (dialog?.open) close(dialog);
  else if (form) quit(form);
});

// A job whose form is closed goes on at the edge of the page.
function setAside(job) {
  if (!job || document.querySelector(`#jobs [data-aside="${job.dataset.aside}"]`)) return;
  const place = document.createElement("div");
  place.setAttribute("hx-get", job.dataset.aside);
  place.setAttribute("hx-trigger", "load");
  place.setAttribute("hx-swap", "outerHTML");
  byId("jobs").append(place);
  htmx.process(place);
}

// ask asks a yes-or-no question.
let answer;
function ask(question, yes) {
  const dialog = byId("confirm");
  if (dialog.open) return Promise.resolve(false); // one question at a time
  byId("question").textContent = question;
  byId("confirm-yes").textContent = yes;
  dialog.showModal();
  byId("confirm-no").focus();
  return new Promise((resolve) => { answer = resolve; });
}
function answered(yes) {
  byId("confirm").close();
  answer(yes);
}
byId("confirm-yes").addEventListener("click", () => answered(true));
byId("confirm-no").addEventListener("click", () => answered(false));

document.body.addEventListener("htmx:confirm", (event) => {
  if (!event.detail.question) return;
  event.preventDefault();
  ask(event.detail.question, event.target.dataset.yes).then((yes) => { if (yes) event.detail.issueRequest(true); });
});
