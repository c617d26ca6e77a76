/**
 * Numbers and counts in words, the same everywhere on a page.
 */

/**
 * A share with three digits, as `.713`; an en dash where there is none.
 *
 * @param {number} share
 */
export function shareText(share) {
  if (Number.isNaN(share)) return "\u2013";
  return share.toFixed(3).replace(/^0(?=\.)/, "");
}

/** @param {number} count */
export function countText(count) {
  return count.toLocaleString("en");
}

/**
 * A count with its noun.
 *
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function counted(count, one, many = `${one}s`) {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/**
 * What a group of items at one distance holds, ties said aloud.
 *
 * @param {{ items: ArrayLike<number>, nRelevant: number }} group
 * @param {number} nShown
 */
export function tiesText({ items, nRelevant }, nShown) {
  const n = items.length;
  const size = n === 1 ? "1 item" : `${countText(n)} items tied`;
  const shown = nShown < n ? `, ${countText(nShown)} shown` : "";
  return `${size}${shown}, ${countText(nRelevant)} relevant`;
}

/**
 * How relevant an item is, in a word.
 *
 * @param {number} level - its place among the levels
 * @param {number[]} levels
 */
export function relevanceText(level, levels) {
  if (level === 0) return "not relevant";
  return levels.length > 2 ? `relevant, level ${levels[level]}` : "relevant";
}
