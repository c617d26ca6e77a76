import assert from "node:assert/strict";
import { test } from "node:test";

import { Measures, splitTies, tiesOf } from "../../../sklearn_hashrank/explore/ranking.js";

/** All orders of a list. */
function* orders(items) {
  if (items.length <= 1) yield items;
  for (const [i, first] of items.entries()) {
    const rest = items.toSpliced(i, 1);
    for (const order of orders(rest)) yield [first, ...order];
  }
}

/** All rankings: the product of the orders of each tie. */
function* rankings(ties) {
  if (ties.length === 0) return yield [];
  const [first, ...rest] = ties;
  for (const order of orders(first)) for (const more of rankings(rest)) yield [...order, ...more];
}

function literalAp(ranking) {
  const relevant = ranking.filter((level) => level > 0).length;
  let sum = 0;
  ranking.forEach((level, place) => {
    const hits = ranking.slice(0, place + 1).filter((other) => other > 0).length;
    if (level > 0) sum += hits / (place + 1);
  });
  return sum / relevant;
}

function literalDcg(ranking) {
  return ranking.reduce((sum, level, place) => sum + (2 ** level - 1) / Math.log2(place + 2), 0);
}

function literalNdcg(ranking) {
  return literalDcg(ranking) / literalDcg(ranking.toSorted((a, b) => b - a));
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);

const CASES = [
  [[0, 1], [2]],
  [[1, 1, 0, 0], [], [0, 2, 1]],
  [[0, 0], [0, 1, 2, 2], [1]],
  [[2], [1], [0]],
  [[0, 0, 0, 0, 1]],
];

for (const items of CASES) {
  test(`means and bounds over all orders of ${JSON.stringify(items)}`, () => {
    const nItems = items.flat().length;
    const ties = items.map((tie) => [0, 1, 2].map((level) => tie.filter((x) => x === level).length));
    const all = [...rankings(items)];
    const measured = new Measures(nItems, [0, 1, 3]).of(ties);
    for (const [name, literal] of [["ap", literalAp], ["ndcg", literalNdcg]]) {
      const values = all.map(literal);
      close(measured[name], mean(values));
      close(measured[`${name}Worst`], Math.min(...values));
      close(measured[`${name}Best`], Math.max(...values));
    }
    assert.equal(measured.nRelevant, items.flat().filter((level) => level > 0).length);
  });
}

test("nothing relevant is undefined", () => {
  const measured = new Measures(5, [0, 1]).of([[2, 0], [3, 0]]);
  for (const name of ["ap", "apWorst", "apBest", "ndcg", "ndcgBest"]) assert.ok(Number.isNaN(measured[name]));
});

test("gains may have any scale", () => {
  const ties = [[3, 1, 0], [1, 2, 1]];
  close(new Measures(8, [0, 1, 3]).ndcg(ties), new Measures(8, [0, 0.25, 0.75]).ndcg(ties));
});

test("counts become ties, and ties are split by level", () => {
  const ties = tiesOf(Uint32Array.of(1, 2, 0, 3, 0, 5), 2);
  assert.deepEqual(ties, [[1, 3], [2, 0], [0, 5]]);
  const plain = (split) => split.map((tie) => [...tie]);
  assert.deepEqual(plain(splitTies(ties, true)), [[0, 3], [1, 0], [2, 0], [0, 5]]);
  assert.deepEqual(plain(splitTies(ties, false)), [[1, 0], [0, 3], [2, 0], [0, 5]]);
});
