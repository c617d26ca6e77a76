import assert from "node:assert/strict";
import { test } from "node:test";

import { readHash, writeHash } from "../../../sklearn_hashrank/explore/view_state.js";

const METHODS = ["a", "b", "exact"];
const INITIAL = { query: 4, model: "a", beside: "b", reach: {}, order: "row", label: "", find: "" };
const read = (hash) => readHash(hash, METHODS, INITIAL);

test("a link restores what was shown", () => {
  const state = {
    query: 17,
    model: "exact",
    beside: "a",
    reach: { a: 0, exact: 20 },
    order: "worst",
    label: "a & b = <c>",
    find: "#100% +1",
  };
  assert.deepEqual(read(writeHash(state)), state);
  assert.deepEqual(read(writeHash(INITIAL)), INITIAL);
});

test("a short link is enough", () => {
  const state = read("#query=17&model=b");
  assert.deepEqual([state.query, state.model, state.beside], [17, "b", "a"]);
  assert.equal(read("#model=a").query, 4);
  assert.equal(read("").beside, "b");
});

test("what a link says wrongly is left out", () => {
  for (const hash of ["#query=-1", "#query=1e9", "#query=<b>", "#model=z", "#order=up", "#beside=q", "#radius-a=x", "#%", "#=&&"]) {
    assert.deepEqual(read(hash), INITIAL);
  }
});

test("no method is beside itself", () => {
  for (const hash of ["#model=b&beside=b", "#model=exact&beside=exact"]) {
    assert.equal(read(hash).beside, "none");
  }
  const one = { ...INITIAL, beside: "none" };
  assert.equal(readHash("#model=a", ["a"], one).beside, "none");
  assert.equal(readHash("#model=b", ["a"], one).model, "a");
});
