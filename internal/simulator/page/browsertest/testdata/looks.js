// What a person would see at a glance, for the tests to ask.
(() => {
  const seen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && element.getClientRects().length > 0;
  const name = (element) => element.tagName.toLowerCase() + (element.id && "#" + element.id) + [...element.classList].map((c) => "." + c).join("");

  // outside lists which of some elements stand beyond the sides of the window.
  window.outside = (selectors) => {
    const wrong = [];
    const page = document.scrollingElement;
    if (page.scrollWidth > innerWidth) wrong.push(`the page is ${page.scrollWidth} px wide, of ${innerWidth}`);
    for (const box of document.querySelectorAll("dialog[open], [popover]:popover-open, dialog[open] form")) {
      if (box.scrollWidth > box.clientWidth) wrong.push(`${name(box)} holds ${box.scrollWidth} px in ${box.clientWidth}`);
    }
    for (const selector of selectors.split(", ")) {
      const found = [...document.querySelectorAll(selector)].filter(seen);
      if (!found.length) wrong.push(`${selector} is not there`);
      for (const element of found) {
        const at = element.getBoundingClientRect();
        if (at.left < 0 || at.right > innerWidth) wrong.push(`${selector} is from ${at.left} to ${at.right}, of ${innerWidth}`);
      }
    }
    return wrong;
  };

  // lines are the boxes that an element's text is set in.
  const lines = (element) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const boxes = [];
    while (texts.nextNode()) {
      range.selectNodeContents(texts.currentNode);
      boxes.push(...range.getClientRects());
    }
    return boxes.filter((box) => box.width && box.height);
  };
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;

  // unreadable lists which texts are cut, broken into lines of a few letters, or
  // printed over each other.
  window.unreadable = (selectors) => {
    const wrong = [];
    const texts = [...document.querySelectorAll(selectors)].filter(seen).map((element) => ({ element, text: element.innerText.trim(), boxes: lines(element) }));
    if (!texts.length) wrong.push(`${selectors} is not there`);
    for (const { element, text, boxes } of texts) {
      const rows = new Set(boxes.map((box) => Math.round(box.top))).size;
      if (rows > 2 && text.length < 8 * rows) wrong.push(`“${text}” is set in ${rows} lines`);
      for (let around = element; around !== document.body; around = around.parentElement) {
        const edge = around.getBoundingClientRect();
        const { overflowX, overflowY } = getComputedStyle(around);
        const beside = overflowX !== "visible" && boxes.some((box) => box.right > edge.right + 1);
        const below = overflowY === "hidden" && boxes.some((box) => box.bottom > edge.bottom + 1); // down one can scroll
        if (beside || below) wrong.push(`“${text}” is cut by ${name(around)}`);
      }
    }
    texts.forEach((one, i) => texts.slice(i + 1).forEach((other) => {
      if (one.element.contains(other.element) || other.element.contains(one.element)) return;
      if (one.boxes.some((a) => other.boxes.some((b) => meet(a, b)))) wrong.push(`“${one.text}” and “${other.text}” are printed over each other`);
    }));
    return wrong;
  };

  // small lists what one clicks on that is smaller than 24 px and nearer to another such thing than its
  // size leaves room for (WCAG 2.5.8). A link within a text does not count.
  window.small = () => {
    const within = document.querySelector("dialog[open], [popover]:popover-open") ?? document.body;
    const inText = (link) => link.matches("a") && [...link.parentElement.childNodes].some((beside) => beside.nodeType === Node.TEXT_NODE && beside.data.trim());
    const hidden = (one) => getComputedStyle(one.closest("thead") ?? one).clipPath !== "none"; // for screen readers only
    const all = [...within.querySelectorAll("a[href], button, input, select, textarea, summary")].filter((one) => seen(one) && !inText(one) && !hidden(one))
      .map((element) => ({ element, at: element.getBoundingClientRect() }));
    const from = ({ left, top, width, height }, to) => Math.hypot(
      Math.max(to.left - (left + width / 2), 0, left + width / 2 - to.right), Math.max(to.top - (top + height / 2), 0, top + height / 2 - to.bottom));
    return all.filter(({ at }) => at.width < 23.5 || at.height < 23.5)
      .flatMap(({ element, at }) => all.filter((other) => other.element !== element && !other.element.contains(element) && from(at, other.at) < 12)
        .map((other) => `${name(element)} is ${at.width.toFixed()} × ${at.height.toFixed()} px, too near to ${name(other.element)}`));
  };

  const rgba = (colour) => {
    const numbers = colour.match(/^rgba?\(([^)]+)\)$/);
    if (!numbers) throw new Error("cannot read the colour " + colour);
    const [r, g, b, a = 1] = numbers[1].split(/[ ,/]+/).map(Number);
    return [r, g, b, a];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((c, i) => c * a + below[i] * (1 - a));
  const luminance = (colour) => colour.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  // behind is the colour that an element's text stands on. What shows through a
  // dialog's backdrop is not asked: dialogs have a colour of their own.
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    const colour = rgba(getComputedStyle(element).backgroundColor);
    return colour[3] === 1 ? colour.slice(0, 3) : over(colour, behind(element.parentElement));
  };
  const opacity = (element) => (element ? getComputedStyle(element).opacity * opacity(element.parentElement) : 1);
  const ratio = (element, style, strength = 1) => {
    const [r, g, b, a] = rgba(style.color);
    const below = behind(element);
    return contrast(over([r, g, b, a * strength * opacity(element)], below), below);
  };

  // faint lists the texts whose contrast is below 4.5, and the signs below 3.
  window.faint = () => {
    const wrong = new Set();
    const check = (element, what, got, least) => {
      if (got < least) wrong.add(`${name(element.parentElement)} > ${name(element)}: ${what}: contrast ${got.toFixed(2)}, less than ${least}`);
    };
    const off = (element) => element.closest(":disabled");
    const top = document.querySelector("dialog[open]") ?? document.body;
    const texts = document.createTreeWalker(top, NodeFilter.SHOW_TEXT);
    let count = 0;
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const element = text.parentElement;
      if (!text.data.trim() || !seen(element) || off(element)) continue;
      count++;
      check(element, text.data.trim().slice(0, 30), ratio(element, getComputedStyle(element)), 4.5);
    }
    for (const field of top.querySelectorAll("input, textarea, select")) {
      if (!seen(field) || off(field)) continue;
      check(field, "its text", ratio(field, getComputedStyle(field)), 4.5);
      const style = getComputedStyle(field, "::placeholder");
      if (field.placeholder) check(field, "its placeholder", ratio(field, style, Number(style.opacity)), 4.5);
    }
    for (const sign of top.querySelectorAll("svg[role=img]:not(.meter)")) {
      if (seen(sign)) check(sign.parentElement, "its sign", ratio(sign, getComputedStyle(sign)), 3);
    }
    if (!count) wrong.add("there is no text here");
    return [...wrong];
  };
})();
