// What the page does beyond htmx: notices, times, and redraws that do not disturb a click.
"use strict";

const byId = (id) => document.getElementById(id);

// notice shows a line for a moment.
function notice(text) {
  const notices = byId("notices");
  const line = document.createElement("p");
  line.textContent = text;
  notices.append(line);
  while (notices.childElementCount > 3) notices.firstElementChild.remove();
  if (notices.matches(":popover-open")) notices.hidePopover();
  notices.showPopover(); // above whatever dialog is open
  setTimeout(() => {
    line.remove();
    if (!notices.childElementCount) notices.hidePopover();
  }, 6000);
}
document.body.addEventListener("notice", (event) => {
  const line = decodeURIComponent(event.detail.value);
  notice(line);
  if (!event.target.closest("dialog") && event.target.closest("form.form")) sessionStorage.setItem("notice", line);
});
// The event of a button that was redrawn during its request does not arrive here.
document.body.addEventListener("htmx:beforeSend", ({ detail: { elt, xhr } }) => {
  xhr.addEventListener("readystatechange", () => {
    if (xhr.readyState !== XMLHttpRequest.DONE || elt.isConnected) return;
    const { notice: line } = JSON.parse(xhr.getResponseHeader("HX-Trigger") ?? "{}");
    if (line) notice(decodeURIComponent(line));
  });
});
const left = sessionStorage.getItem("notice"); // of the page before this one
sessionStorage.removeItem("notice");
if (left) notice(left);

// While a mouse button is down or a question is open, no view is replaced: the click would
// be lost, or the subject of the question. Such a view asks again afterwards.
let pressed = false;
const missed = new Set();
document.addEventListener("pointerdown", () => { pressed = true; }, true);
for (const end of ["pointerup", "pointercancel"]) {
  document.addEventListener(end, () => {
    pressed = false;
    setTimeout(catchUp);
  }, true);
}
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const view = event.detail.target;
  if ((pressed || byId("confirm").open) && event.detail.elt === view) {
    event.detail.shouldSwap = false;
    missed.add(view);
  }
});
byId("confirm").addEventListener("close", catchUp);

function catchUp() {
  if (pressed || byId("confirm").open) return;
  for (const view of missed) if (view.isConnected) htmx.trigger(view, view.matches(".job") ? "again" : "sse:cluster");
  missed.clear();
}

// A response may lack what changes during its request: the view asks once more.
const late = new Set(); // the addresses of such views
document.addEventListener("sse:cluster", ({ target }) => {
  if (target.matches(".htmx-request")) late.add(target.getAttribute("hx-get"));
}, true);
document.body.addEventListener("htmx:afterRequest", ({ detail: { requestConfig } }) => {
  const address = requestConfig.elt.getAttribute("hx-get"); // another element may have replaced it
  if (!late.delete(address)) return;
  setTimeout(() => { // after the swap
    for (const view of document.querySelectorAll("[hx-get]")) if (view.getAttribute("hx-get") === address) htmx.trigger(view, "sse:cluster");
  });
});

// A banner says that the connection is lost.
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
