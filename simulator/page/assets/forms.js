// Forms: one request at a time, and an answer to each, even if there is none.
"use strict";

// A form whose work is under way takes no second order.
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

const unanswered = "The simulator does not answer.";

// A request that fails is answered where it was made.
for (const kind of ["sendError", "responseError", "timeout"]) {
  document.body.addEventListener("htmx:" + kind, (event) => {
    const { elt, xhr } = event.detail;
    if (elt.matches(".job")) return again(elt);
    if (elt.matches(".live, #summary")) return; // they ask again; the banner says it
    const form = elt.closest("form.form");
    const said = xhr.status ? xhr.responseText.trim() || xhr.statusText : unanswered;
    if (!form) return tell(said);
    const because = document.createElement("p");
    because.className = "because";
    because.textContent = xhr.status ? said : said + " What you have typed is still here; send it again once it does.";
    form.querySelector(".problems").replaceChildren(because);
  });
}

// again asks once more how a job is getting on.
function again(job) {
  setTimeout(() => { if (job.isConnected) htmx.trigger(job, "again"); }, 1000);
}

document.addEventListener("click", (event) => event.target.closest("[data-dismiss]")?.parentElement.remove());
