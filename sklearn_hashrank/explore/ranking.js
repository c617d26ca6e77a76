/**
 * Measures of a ranking with ties: exact means over all orders of tied items, and their bounds.
 */

/**
 * How many items of each level a tie holds.
 *
 * @typedef {ArrayLike<number>} Tie
 */

/**
 * @typedef {object} Measured
 * @property {number} nRelevant
 * @property {number} ap
 * @property {number} apWorst
 * @property {number} apBest
 * @property {number} ndcg
 * @property {number} ndcgWorst
 * @property {number} ndcgBest
 */

/**
 * Sums of f(1) + ... + f(n) for n up to a number of items, each to the last digits.
 *
 * @param {number} nItems
 * @param {(rank: number) => number} f
 */
function prefixSums(nItems, f) {
  const sums = new Float64Array(nItems + 1);
  let sum = 0;
  let lost = 0;
  for (let rank = 1; rank <= nItems; rank++) {
    const value = f(rank) - lost;
    const next = sum + value;
    lost = next - sum - value;
    sums[rank] = sum = next;
  }
  return sums;
}

/** Measures of rankings of at most `nItems` items. */
export class Measures {
  /**
   * @param {number} nItems
   * @param {ArrayLike<number>} gains - of the levels, ascending; that of level 0 is 0
   */
  constructor(nItems, gains) {
    this.gains = gains;
    this.harmonic = prefixSums(nItems, (rank) => 1 / rank);
    this.discounts = prefixSums(nItems, (rank) => 1 / Math.log2(rank + 1));
  }

  /**
   * Measure the ranking of a query; every value is NaN where nothing is relevant.
   *
   * @param {Tie[]} ties
   * @returns {Measured}
   */
  of(ties) {
    const nRelevant = ties.reduce((sum, tie) => sum + relevantOf(tie), 0);
    const worst = splitTies(ties, false);
    const best = splitTies(ties, true);
    const ap = this.averagePrecision(ties);
    const ndcg = this.ndcg(ties);
    return {
      nRelevant,
      ap,
      apWorst: Math.min(ap, this.averagePrecision(worst)),
      apBest: Math.max(ap, this.averagePrecision(best)),
      ndcg,
      ndcgWorst: Math.min(ndcg, this.ndcg(worst)),
      ndcgBest: Math.max(ndcg, this.ndcg(best)),
    };
  }

  /**
   * Expected average precision.
   *
   * An item at place t of a tie is relevant with probability p / n, and then finds a share
   * r = (p - 1) / (n - 1) of the places ahead of it in the tie relevant.
   *
   * @param {Tie[]} ties
   */
  averagePrecision(ties) {
    let [before, relevantBefore, sum] = [0, 0, 0];
    for (const tie of ties) {
      const n = totalOf(tie);
      const p = relevantOf(tie);
      if (p > 0) {
        const r = n > 1 ? (p - 1) / (n - 1) : 0;
        const ahead = relevantBefore + 1 - (before + 1) * r;
        const inverseRanks = this.harmonic[before + n] - this.harmonic[before];
        sum += (p / n) * (n * r + ahead * inverseRanks);
      }
      before += n;
      relevantBefore += p;
    }
    return clipped(sum / relevantBefore);
  }

  /**
   * Expected normalised discounted cumulative gain.
   *
   * @param {Tie[]} ties
   */
  ndcg(ties) {
    let [before, sum] = [0, 0];
    for (const tie of ties) {
      const n = totalOf(tie);
      if (n > 0) sum += (this.gainOf(tie) / n) * this.discount(before, before + n);
      before += n;
    }
    return clipped(sum / this.idealDcg(ties));
  }

  /** @param {Tie[]} ties */
  idealDcg(ties) {
    let [before, sum] = [0, 0];
    for (let level = this.gains.length - 1; level > 0; level--) {
      const n = ties.reduce((total, tie) => total + tie[level], 0);
      sum += this.gains[level] * this.discount(before, before + n);
      before += n;
    }
    return sum;
  }

  /** @param {Tie} tie */
  gainOf(tie) {
    let gain = 0;
    for (let level = 1; level < tie.length; level++) gain += tie[level] * this.gains[level];
    return gain;
  }

  /**
   * @param {number} start
   * @param {number} stop
   */
  discount(start, stop) {
    return this.discounts[stop] - this.discounts[start];
  }
}

/**
 * The ties of counts by level and distance.
 *
 * @param {Uint32Array} counts
 * @param {number} nLevels
 * @returns {number[][]}
 */
export function tiesOf(counts, nLevels) {
  const nDistances = counts.length / nLevels;
  return Array.from({ length: nDistances }, (_, distance) =>
    Array.from({ length: nLevels }, (_, level) => counts[level * nDistances + distance]),
  );
}

/**
 * Split every tie into one for each level, the best or the worst level first.
 *
 * @param {Tie[]} ties
 * @param {boolean} bestFirst
 */
export function splitTies(ties, bestFirst) {
  /** @type {Tie[]} */
  const split = [];
  for (const tie of ties) {
    for (let place = 0; place < tie.length; place++) {
      const level = bestFirst ? tie.length - 1 - place : place;
      if (tie[level] === 0) continue;
      const alone = new Float64Array(tie.length);
      alone[level] = tie[level];
      split.push(alone);
    }
  }
  return split;
}

/** @param {Tie} tie */
export function totalOf(tie) {
  let total = 0;
  for (let level = 0; level < tie.length; level++) total += tie[level];
  return total;
}

/** @param {Tie} tie */
export function relevantOf(tie) {
  return totalOf(tie) - tie[0];
}

/** @param {number} share */
function clipped(share) {
  return Math.min(1, Math.max(0, share));
}
