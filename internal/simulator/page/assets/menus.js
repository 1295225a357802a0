// Menus, with the usual keys.
"use strict";

for (const menu of document.querySelectorAll("[role=menu]")) {
  const button = document.querySelector(`[popovertarget="${menu.id}"]`);
  const items = () => [...menu.querySelectorAll("[role=menuitem]")];
  const focus = (index) => items().at(index % items().length).focus();
  let begin = 0; // where the focus goes when it opens
  menu.addEventListener("beforetoggle", () => {
    const top = button.getBoundingClientRect().bottom + 4;
    menu.style.top = top + "px";
    menu.style.maxHeight = `calc(100dvh - ${top + 8}px)`;
  });
  menu.addEventListener("toggle", (event) => {
    button.setAttribute("aria-expanded", event.newState === "open");
    if (event.newState === "open") focus(begin);
    begin = 0;
  });
  button.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    begin = event.key === "ArrowUp" ? -1 : 0;
    menu.showPopover({ source: button });
  });
  menu.addEventListener("keydown", (event) => {
    const at = items().indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key] ?? starting(event, at);
    if (event.key === "Tab") menu.hidePopover(); // and on, from its button
    if (event.key === "Escape") {
      menu.hidePopover();
      button.focus();
    }
    if (event.key === " ") document.activeElement.click();
    if (to !== undefined) focus(to);
    if (to !== undefined || event.key === "Escape" || event.key === " ") event.preventDefault();
  });

  // starting finds the next item that begins with the letter that was typed.
  function starting(event, at) {
    if (event.key.length !== 1 || event.key === " " || event.ctrlKey || event.metaKey || event.altKey) return undefined;
    const all = items();
    for (let i = 1; i <= all.length; i++) {
      const next = (at + i) % all.length;
      if (all[next].textContent.trim().toLowerCase().startsWith(event.key.toLowerCase())) return next;
    }
    return undefined;
  }
}
