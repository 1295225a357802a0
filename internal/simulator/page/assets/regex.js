// The regex field of a pod's form: the field and the annotation in the YAML follow each other,
// and a preview lists the current nodes that match. The server reads and writes the YAML.
"use strict";

htmx.onLoad((root) => {
  const field = root.querySelector?.("[data-regex]");
  if (!field) return;
  const form = field.closest("form");
  const input = field.querySelector("input");
  const text = form.querySelector(".code textarea");
  const box = field.querySelector("#preview");
  let timer = 0;
  let asked = 0;
  const ask = async (mine) => {
    try {
      if (text.value.length + input.value.length > 1e6) return void (box.textContent = "No preview of more than 1 MB. A regex may have 2,048 bytes.");
      const response = await fetch("/preview", { method: "POST", body: new URLSearchParams(new FormData(form)) });
      if (mine !== asked) return; // somebody has typed more
      if (!response.ok) return void (box.textContent = await response.text());
      const answer = await response.json();
      if (mine !== asked) return;
      box.innerHTML = answer.HTML;
      if (!answer.Key) return; // the text cannot be read now
      field.querySelector(".key-read").textContent = answer.Key;
      if (input.name) {
        input.removeAttribute("name");
        text.value = answer.Text;
        text.dispatchEvent(new Event("input"));
      } else {
        input.value = answer.Regex;
      }
    } catch {
      if (mine === asked) box.textContent = "No preview: the simulator does not respond.";
    } finally {
      if (mine === asked) box.ariaBusy = "false";
    }
  };
  const later = () => {
    clearTimeout(timer);
    box.ariaBusy = "true"; // what is below may move
    const mine = ++asked;
    timer = setTimeout(() => ask(mine), 120);
  };
  input.addEventListener("input", () => {
    input.name = "regex"; // until it is in the text: so it is sent with the form
    later();
  });
  text.addEventListener("input", later);
  later();
});
