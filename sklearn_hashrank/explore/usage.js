import { element } from "./elements.js";
import { growingList } from "./cards.js";
import { countText, counted, shareText } from "./wording.js";

/** @typedef {import("./page_data.js").PageData} PageData */

const CODES = 8;
const SHOWN_OF_CODE = 8;
const LABELS = 3;

/**
 * How a model uses codes: how many there are, and what the fullest hold.
 *
 * @param {PageData} data
 * @param {import("./cards.js").Cards} cards
 * @param {import("./page_data.js").Model} model
 * @param {(item: number) => string | undefined} linkTo
 */
export function usageSection(data, cards, model, linkTo) {
  const groups = model.codes.itemsByCode(data.nDatabase);
  const alone = groups.filter((items) => items.length === 1).length;
  const n = data.nDatabase;
  const pairs = groups.reduce((sum, items) => sum + items.length * (items.length - 1), 0);
  const text =
    `${counted(n, "item")} have ${counted(groups.length, "distinct code")}; ` +
    `${countText(alone)} of them ${alone === 1 ? "holds" : "hold"} one item. ` +
    `Two items have the same code with probability ${probabilityText(pairs / (n * (n - 1)))}.`;
  const about = {
    class: "usage",
    "data-distinct": groups.length,
    "data-collisions": pairs / (n * (n - 1)),
  };
  const fullest = groups.slice(0, CODES).map((items) => {
    const bits = model.codes.bitsOf(items[0]);
    const heading = element("h4", {}, counted(items.length, "item"), ": ", element("code", {}, bits));
    const labels = labelsOf(data, items);
    const entry = (/** @type {number} */ item) => cards.entry(item, { href: linkTo(item) });
    return element(
      "section",
      { class: "group", "data-count": items.length, "data-code": bits },
      heading,
      element("p", { class: "quiet" }, labels),
      growingList(items, entry, SHOWN_OF_CODE),
    );
  });
  return element(
    "section",
    { class: "column" },
    element("h3", {}, `${model.name}, ${model.codes.nBits} bits`),
    element("p", about, text),
    ...fullest,
  );
}

/**
 * The most frequent labels of items, with their shares.
 *
 * @param {PageData} data
 * @param {number[]} items
 */
function labelsOf(data, items) {
  if (!data.labels) return "";
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const item of items) {
    const word = data.wordOf(item);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const named = sorted
    .slice(0, LABELS)
    .map(([word, count]) => `${word} ${shareText(count / items.length)}`);
  const left = sorted.length - named.length;
  return named.join(", ") + (left > 0 ? ` and ${counted(left, "other label")}` : "");
}

/** @param {number} share */
function probabilityText(share) {
  return share === 0 ? "0" : share.toPrecision(2);
}
