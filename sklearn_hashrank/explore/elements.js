/**
 * Elements of a page. Text is always text: nothing here, or elsewhere, parses HTML.
 */

/** @typedef {string | number | boolean | undefined} AttributeValue */
/** @typedef {Record<string, AttributeValue>} Attributes */

/**
 * Make an HTML element.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  setAttributes(made, attributes);
  made.append(...children);
  return made;
}

/**
 * Set attributes; `true` sets one without a value, `false` and undefined none.
 *
 * @param {Element} made
 * @param {Attributes} attributes
 */
export function setAttributes(made, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * Make a button.
 *
 * @param {string} text
 * @param {() => void} pressed
 * @param {Attributes} [attributes]
 */
export function button(text, pressed, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", pressed);
  return made;
}
