import { element } from "./elements.js";
import { growingList } from "./cards.js";
import { compareFound } from "./found.js";
import { countText, counted } from "./wording.js";

const DIFFERENCES_SHOWN = 12;

/**
 * What each of two methods finds within its reach, and the other does not.
 *
 * @param {import("./cards.js").Cards} cards
 * @param {{ name: string, items: number[] }} first
 * @param {{ name: string, items: number[] }} second
 * @param {ArrayLike<number>} levels
 * @param {(item: number) => string | undefined} linkTo
 */
export function differenceSection(cards, first, second, levels, linkTo) {
  const found = compareFound(first.items, second.items, levels);
  const summary =
    `Both find ${counted(found.both.length, "relevant item")}. Each list below holds what only ` +
    "one of them finds within its radius.";
  const entryOf = (/** @type {number} */ item) =>
    cards.entry(item, { level: levels[item], href: linkTo(item) });

  /**
   * @param {string} name
   * @param {number[]} right
   * @param {number[]} wrong
   */
  function side(name, right, wrong) {
    const text =
      `${counted(right.length, "relevant item")}, and ${countText(wrong.length)} that are not ` +
      "relevant.";
    const heading = element("h3", {}, `Only ${name}`);
    const about = element("p", { class: "only", "data-relevant": right.length, "data-irrelevant": wrong.length }, text);
    const list = right.length ? growingList(right, entryOf, DIFFERENCES_SHOWN) : "";
    return element("section", { class: "column" }, heading, about, list);
  }
  return [
    element("p", { class: "both", "data-relevant": found.both.length }, summary),
    element(
      "div",
      { class: "columns" },
      side(first.name, found.onlyFirst, found.wrongFirst),
      side(second.name, found.onlySecond, found.wrongSecond),
    ),
  ];
}
