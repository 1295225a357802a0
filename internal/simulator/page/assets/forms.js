// Forms: one request at a time, and a message also where the server does not respond.
"use strict";

// A form whose job runs is not submitted again.
document.addEventListener("submit", (event) => {
  if (!event.target.querySelector("[data-aside]")) return;
  event.preventDefault();
  event.stopPropagation();
}, true);

htmx.onLoad((root) => {
  const form = root.closest?.("form.form");
  const submit = form?.querySelector(".submit");
  if (submit) submit.disabled = !!form.querySelector("[data-aside]");
});

const unanswered = "The simulator does not respond.";

// A failed request is reported where it was made.
for (const kind of ["sendError", "responseError", "timeout"]) {
  document.body.addEventListener("htmx:" + kind, (event) => {
    const { elt, xhr } = event.detail;
    if (elt.matches(".job")) return again(elt);
    if (elt.matches(".live, #summary")) return; // they ask again; the banner reports it
    const form = elt.closest("form.form");
    const said = xhr.status ? xhr.responseText.trim() || xhr.statusText : unanswered;
    if (!form) return notice(said);
    const because = document.createElement("p");
    because.className = "because";
    because.textContent = xhr.status ? said : said + " Your text is kept. Submit it again later.";
    form.querySelector(".problems").replaceChildren(because);
  });
}

// again asks for the progress of a job once more.
function again(job) {
  setTimeout(() => { if (job.isConnected) htmx.trigger(job, "again"); }, 1000);
}

document.addEventListener("click", (event) => event.target.closest("[data-dismiss]")?.parentElement.remove());

// A table, or a command, is copied as text: cells are separated by tabs.
document.addEventListener("click", async (event) => {
  const what = event.target.closest("[data-copy]")?.previousElementSibling;
  if (!what) return;
  try {
    await navigator.clipboard.writeText(what.innerText);
    notice("Copied");
  } catch (error) {
    notice("Not copied: " + error.message);
  }
});
