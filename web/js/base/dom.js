// @ts-check
/**
 * Elements without HTML strings: text goes in as text, styles through classes.
 *   el("button", { class: "link", type: "button", on: { click: go } }, "back to peak")
 * @param {string} tag
 * @param {Record<string, any>} [options] attributes; `class`, `on` (listeners) and `data` (dataset) are special
 * @returns {any} the element; its kind follows from the tag
 */
export function el(tag, options = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) setOption(node, name, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function setOption(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === "on") for (const [type, listener] of Object.entries(value)) node.addEventListener(type, listener);
  else if (name === "data") Object.assign(node.dataset, value);
  else if (name === "class") node.className = value;
  else node.setAttribute(name, value === true ? "" : String(value));
}

/** Sets the text only when it differs, so that a selection made by the user survives. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Gives `parent` these children in this order; those that it has already stay, with their focus and their layout. */
export function setChildren(parent, children) {
  const wanted = new Set(children);
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  let next = parent.firstChild;
  for (const child of children) {
    if (child === next) next = next.nextSibling;
    else parent.insertBefore(child, next);
  }
}

export function button(label, onClick, options = {}) {
  return el("button", { type: "button", on: { click: onClick }, ...options }, label);
}

export function isTyping(target) {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/**
 * Escape lets go of a field: the focus goes to the middle of the page, where the keys of the tool work.
 * @param {HTMLElement} field
 */
export function leaveField(field) {
  field.blur();
  document.querySelector("main")?.focus({ preventScroll: true });
}
