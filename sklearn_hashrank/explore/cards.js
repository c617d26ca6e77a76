import { element } from "./elements.js";
import { bytesOf } from "./codes.js";
import { countText, relevanceText } from "./wording.js";

/** @typedef {import("./page_data.js").PageData} PageData */

/** Shows items, each as a picture, a text or a row of a table, with its label and relevance. */
export class Cards {
  /** @param {PageData} data */
  constructor(data) {
    this.data = data;
    /** @type {Promise<ImageBitmap>[]} */
    this.sheets = [];
    if (data.items.kind === "pictures") {
      const { sheets, format } = data.items;
      this.sheets = sheets.map((sheet) =>
        createImageBitmap(new Blob([bytesOf(sheet)], { type: format })),
      );
    }
  }

  /**
   * What an item is called where it cannot be seen.
   *
   * @param {number} item
   */
  nameOf(item) {
    const word = this.data.wordOf(item);
    return `${word ? `${word}, ` : ""}row ${this.data.rows[item]}`;
  }

  /**
   * An entry of a list of items.
   *
   * @param {number} item
   * @param {{ level?: number, href?: string, note?: string }} [about]
   */
  entry(item, { level, href, note } = {}) {
    const { data } = this;
    const parts = this.parts(item, true);
    if (level !== undefined) {
      const relevance = relevanceText(level, data.levels);
      const mark = element("span", { class: "mark", "aria-hidden": "true" }, level > 0 ? "✓" : "✗");
      parts.push(element("span", { class: "relevance" }, mark, relevance));
    }
    if (note) parts.push(element("span", { class: "quiet" }, note));
    const names = ["item", data.items.kind];
    if (level !== undefined) names.push(level > 0 ? "is-relevant" : "is-irrelevant");
    const inside = href
      ? element("a", { href, "data-row": data.rows[item] }, ...parts)
      : element("div", { "data-row": data.rows[item] }, ...parts);
    return element("li", { class: names.join(" ") }, inside);
  }

  /**
   * What an item looks like, and its label.
   *
   * @param {number} item
   * @param {boolean} isShort - whether to leave out what a small place has no room for
   * @returns {HTMLElement[]}
   */
  parts(item, isShort) {
    const { data } = this;
    const word = data.wordOf(item);
    const row = `row ${data.rows[item]}`;
    const { items } = data;
    /** @type {HTMLElement[]} */
    const parts = [];
    if (items.kind === "pictures") parts.push(this.picture(item));
    if (items.kind === "texts") parts.push(element("span", { class: "text" }, items.texts[item]));
    if (items.kind === "table") parts.push(this.tableRow(item));
    if (items.kind === "pictures" && items.names && !isShort) {
      parts.push(element("span", { class: "quiet file" }, items.names[item]));
    }
    parts.push(element("span", { class: "word" }, word || row));
    if (word) parts.push(element("span", { class: "quiet row" }, row));
    return parts;
  }

  /** @param {number} item */
  picture(item) {
    const { items } = this.data;
    if (items.kind !== "pictures") throw new Error("items are no pictures");
    const { height, width, cellHeight, cellWidth, columns } = items;
    const label = `picture of ${this.nameOf(item)}`;
    const canvas = element("canvas", { width, height, role: "img", "aria-label": label });
    if (width <= 48) canvas.classList.add("pixels");
    const place = item % (columns * columns);
    const left = (place % columns) * cellWidth;
    const top = Math.floor(place / columns) * cellHeight;
    this.sheets[Math.floor(item / (columns * columns))].then((sheet) => {
      const area = canvas.getContext("2d");
      area?.drawImage(sheet, left, top, width, height, 0, 0, width, height);
    });
    return canvas;
  }

  /** @param {number} item */
  tableRow(item) {
    const { items } = this.data;
    if (items.kind !== "table") throw new Error("items are no rows of a table");
    const cells = items.columns.map((name, column) =>
      element(
        "span",
        { class: "cell" },
        element("span", { class: "quiet" }, name),
        ` ${items.cells[column][item]}`,
      ),
    );
    return element("span", { class: "cells" }, ...cells);
  }
}

/**
 * A list of items of which the first are shown, and more at the press of a button.
 *
 * @param {number[]} items
 * @param {(item: number) => HTMLLIElement} entryOf
 * @param {number} step
 * @param {(nShown: number) => void} [changed]
 */
export function growingList(items, entryOf, step, changed = () => {}) {
  const list = element("ul", { class: "items" });
  const more = element("button", { type: "button", class: "more" });
  let nShown = 0;
  function grow() {
    const next = items.slice(nShown, nShown + step);
    const entries = next.map(entryOf);
    list.append(...entries);
    nShown += next.length;
    const left = items.length - nShown;
    more.hidden = left === 0;
    more.textContent = `Show ${Math.min(step, left)} more`;
    if (left > step) more.append(` of ${countText(left)}`);
    changed(nShown);
    return entries[0];
  }
  grow();
  more.addEventListener("click", () => {
    const first = grow()?.querySelector("a");
    first?.focus();
  });
  return element("div", {}, list, more);
}
