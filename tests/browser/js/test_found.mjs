import assert from "node:assert/strict";
import { test } from "node:test";

import { compareFound, furthestReach, groupsWithin, usualReach } from "../../../sklearn_hashrank/explore/found.js";
import { counted, relevanceText, shareText, tiesText } from "../../../sklearn_hashrank/explore/wording.js";

const range = (start, stop) => Array.from({ length: stop - start }, (_, i) => start + i);
const group = (distance, items) => ({ distance, items, nRelevant: 0 });
const CODES = { groups: [group(0, []), group(1, range(0, 4)), group(2, range(4, 12)), group(3, [12])] };
const EXACT = { groups: [group(0.1, [5]), group(0.2, [1, 2]), group(0.5, [3])] };

test("the usual radius holds some items", () => {
  assert.equal(usualReach("a", CODES), 2);
  assert.equal(usualReach("exact", EXACT), 4);
  assert.deepEqual([furthestReach("b", CODES), furthestReach("exact", EXACT)], [3, 4]);
});

test("groups within a radius, and the nearest with their ties", () => {
  const distances = (groups) => groups.map(({ distance }) => distance);
  assert.deepEqual(distances(groupsWithin("a", CODES, 2)), [1, 2]);
  assert.deepEqual(distances(groupsWithin("a", CODES, 0)), []);
  assert.deepEqual(distances(groupsWithin("exact", EXACT, 1)), [0.1]);
  assert.deepEqual(distances(groupsWithin("exact", EXACT, 2)), [0.1, 0.2]);
});

test("what one finds and the other does not", () => {
  const levels = [1, 1, 0, 2, 0, 1];
  assert.deepEqual(compareFound([0, 1, 2], [1, 3, 4], levels), {
    onlyFirst: [0],
    onlySecond: [3],
    both: [1],
    wrongFirst: [2],
    wrongSecond: [4],
  });
});

test("ties are said aloud", () => {
  assert.equal(tiesText({ items: range(0, 214), nRelevant: 190 }, 12), "214 items tied, 12 shown, 190 relevant");
  assert.equal(tiesText({ items: [1], nRelevant: 0 }, 1), "1 item, 0 relevant");
  assert.equal(counted(1, "bit"), "1 bit");
  assert.equal(counted(1200, "query", "queries"), "1,200 queries");
  assert.deepEqual([0.7131, 1, 0, NaN].map(shareText), [".713", "1.000", ".000", "\u2013"]);
  assert.equal(relevanceText(0, [0, 1]), "not relevant");
  assert.equal(relevanceText(1, [0, 1]), "relevant");
  assert.equal(relevanceText(2, [0, 1, 2.5]), "relevant, level 2.5");
});
