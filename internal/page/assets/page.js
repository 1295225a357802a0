// What the page does beyond htmx: dialogs, notices, times, and a calm hand.
"use strict";

const byId = (id) => document.getElementById(id);

// Links with data-dialog open their view in that dialog. With a modifier key, or
// without script, they are ordinary links to a page of its own.
document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const close = event.target.closest("[data-close]");
  if (close) {
    const dialog = close.closest("dialog");
    if (dialog) dialog.close();
    else location.assign("/");
    return;
  }
  const link = event.target.closest("a[data-dialog]");
  if (!link) return;
  event.preventDefault();
  link.closest("[popover]")?.hidePopover();
  const dialog = byId(link.dataset.dialog);
  if (link.id && !dialog.contains(link)) dialog.dataset.from = link.id;
  const body = byId(link.dataset.dialog + "-body");
  htmx.ajax("GET", link.getAttribute("href"), { target: body, swap: "innerHTML" }).then(() => {
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    body.querySelector("[autofocus]")?.focus();
  });
});

for (const dialog of document.querySelectorAll("dialog")) {
  const body = byId(dialog.id + "-body");
  if (body) dialog.addEventListener("close", () => {
    body.replaceChildren(); // and stop asking for news of it
    if (document.activeElement === document.body) byId(dialog.dataset.from)?.focus(); // the link may have been redrawn
  });
  dialog.addEventListener("mousedown", (event) => {
    if (event.target === dialog && dialog.id === "panel") dialog.close(); // beside the drawer
  });
}

// The server says when what a dialog was for is done.
document.body.addEventListener("done", (event) => event.target.closest("dialog")?.close());

document.body.addEventListener("notice", (event) => {
  const notices = byId("notices");
  const line = document.createElement("p");
  line.textContent = event.detail.value;
  notices.append(line);
  while (notices.childElementCount > 3) notices.firstElementChild.remove();
  if (notices.matches(":popover-open")) notices.hidePopover();
  notices.showPopover(); // above whatever dialog is open
  setTimeout(() => {
    line.remove();
    if (!notices.childElementCount) notices.hidePopover();
  }, 6000);
});

document.body.addEventListener("htmx:confirm", (event) => {
  if (!event.detail.question) return;
  event.preventDefault();
  const dialog = byId("confirm");
  byId("question").textContent = event.detail.question;
  dialog.returnValue = "no";
  dialog.addEventListener("close", () => {
    if (dialog.returnValue === "yes") event.detail.issueRequest(true);
  }, { once: true });
  dialog.showModal();
  byId("confirm-yes").focus();
});

// While a mouse button is down nothing is replaced under it: the click would get
// lost. What came meanwhile is asked for afterwards.
let pressed = false;
const missed = new Set();
document.addEventListener("pointerdown", () => { pressed = true; }, true);
for (const end of ["pointerup", "pointercancel"]) {
  document.addEventListener(end, () => {
    pressed = false;
    setTimeout(() => {
      for (const view of missed) if (view.isConnected) htmx.trigger(view, "sse:cluster");
      missed.clear();
    });
  }, true);
}
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const view = event.detail.target;
  if (pressed && event.detail.elt === view) {
    event.detail.shouldSwap = false;
    missed.add(view);
  }
});

// A server that has gone is said to have gone.
document.body.addEventListener("htmx:sseError", () => { byId("lost").hidden = false; });
document.body.addEventListener("htmx:sseOpen", () => { byId("lost").hidden = true; });

function ago(seconds) {
  if (seconds < 1) return "now";
  if (seconds < 60) return Math.floor(seconds) + " s ago";
  if (seconds < 3600) return Math.floor(seconds / 60) + " min ago";
  if (seconds < 86400) return Math.floor(seconds / 3600) + " h ago";
  return Math.floor(seconds / 86400) + " d ago";
}
function tick() {
  for (const time of document.querySelectorAll("time[data-ago]")) {
    const text = ago((Date.now() - Date.parse(time.dateTime)) / 1000);
    if (time.textContent !== text) time.textContent = text;
  }
}
setInterval(tick, 1000);
document.body.addEventListener("htmx:afterSwap", tick);
tick();

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select");
  if (event.key === "/" && !typing && !document.querySelector("dialog[open]") && byId("filter")) {
    event.preventDefault();
    byId("filter").focus();
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.target.closest("form")?.requestSubmit();
  }
});
