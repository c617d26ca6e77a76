/**
 * What a method finds within a radius, and what two methods find of the same.
 */

/** @typedef {import("./page_data.js").Ranking} Ranking */
/** @typedef {import("./view_state.js").Method} Method */

const ENOUGH = 10;
const NEAREST = 20;

/**
 * How far to look at first: the least radius within which there are some items.
 *
 * @param {Method} method
 * @param {Ranking} ranking
 */
export function usualReach(method, ranking) {
  if (method === "exact") return Math.min(NEAREST, furthestReach(method, ranking));
  let n = 0;
  for (const { distance, items } of ranking.groups) {
    n += items.length;
    if (n >= ENOUGH) return distance;
  }
  return ranking.groups.length - 1;
}

/**
 * @param {Method} method
 * @param {Ranking} ranking
 */
export function furthestReach(method, ranking) {
  if (method !== "exact") return ranking.groups.length - 1;
  return ranking.groups.reduce((sum, { items }) => sum + items.length, 0);
}

/**
 * The groups within reach: a radius in bits, or a number of nearest items.
 *
 * @param {Method} method
 * @param {Ranking} ranking
 * @param {number} reach
 * @returns {import("./page_data.js").Group[]}
 */
export function groupsWithin(method, ranking, reach) {
  if (method !== "exact") {
    return ranking.groups.filter(({ distance, items }) => distance <= reach && items.length > 0);
  }
  let n = 0;
  return ranking.groups.filter(({ items }) => {
    n += items.length;
    return n - items.length < reach;
  });
}

/**
 * Compare the items that two methods find.
 *
 * @param {number[]} first
 * @param {number[]} second
 * @param {ArrayLike<number>} levels
 */
export function compareFound(first, second, levels) {
  const [inFirst, inSecond] = [new Set(first), new Set(second)];
  const relevant = (/** @type {number} */ item) => levels[item] > 0;
  return {
    onlyFirst: first.filter((item) => !inSecond.has(item) && relevant(item)),
    onlySecond: second.filter((item) => !inFirst.has(item) && relevant(item)),
    both: first.filter((item) => inSecond.has(item) && relevant(item)),
    wrongFirst: first.filter((item) => !inSecond.has(item) && !relevant(item)),
    wrongSecond: second.filter((item) => !inFirst.has(item) && !relevant(item)),
  };
}
