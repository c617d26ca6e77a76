import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import { Codes, countLevels, decodeArray, popcount } from "../../../sklearn_hashrank/explore/codes.js";

test("popcount counts bits", () => {
  for (const word of [0, 1, 2, 0x80000000, 0xffffffff, 0x55555555, 0x12345678, -1]) {
    const bits = (word >>> 0).toString(2).replaceAll("0", "").length;
    assert.equal(popcount(word), bits);
  }
});

test("arrays are decoded, deflated or not", async () => {
  const values = new Float64Array([0.1, -2, NaN, 1e300]);
  const bytes = Buffer.from(values.buffer);
  for (const deflated of [false, true]) {
    const base64 = (deflated ? deflateSync(bytes) : bytes).toString("base64");
    assert.deepEqual(await decodeArray({ type: "float64", deflated, base64 }), values);
  }
  await assert.rejects(decodeArray({ type: "object", deflated: false, base64: "" }), /object/);
});

/** Random packed codes; bits beyond the length are 0, as numpy.packbits leaves them. */
function randomCodes(nItems, nBits) {
  const nBytes = Math.ceil(nBits / 8);
  const packed = new Uint8Array(nItems * nBytes);
  for (let i = 0; i < packed.length; i++) packed[i] = Math.floor(Math.random() * 256);
  const pad = nBytes * 8 - nBits;
  for (let i = nBytes - 1; i < packed.length; i += nBytes) packed[i] &= 0xff << pad;
  return new Codes(packed, nBits);
}

test("distances count different bits", () => {
  for (const nBits of [1, 7, 8, 12, 31, 32, 33, 64, 100]) {
    const codes = randomCodes(20, nBits);
    const distances = codes.distancesFrom(3, 15);
    assert.equal(distances.length, 15);
    const [query, ...others] = [3, ...distances.keys()].map((item) => codes.bitsOf(item));
    assert.equal(query.length, nBits);
    others.forEach((bits, i) => {
      assert.equal(distances[i], [...bits].filter((bit, at) => bit !== query[at]).length);
    });
  }
});

test("items are grouped by code, the fullest first", () => {
  const codes = randomCodes(200, 3);
  const groups = codes.itemsByCode(150);
  assert.equal(groups.flat().length, 150);
  assert.deepEqual(groups.map((items) => items.length), groups.map((items) => items.length).sort((a, b) => b - a));
  for (const items of groups) {
    assert.equal(new Set(items.map((item) => codes.bitsOf(item))).size, 1);
  }
  assert.equal(new Set(groups.map(([item]) => codes.bitsOf(item))).size, groups.length);
});

test("a query does not retrieve itself", () => {
  const distances = Uint16Array.of(0, 2, 2, 1);
  const levels = Uint8Array.of(1, 0, 1, 1);
  assert.deepEqual([...countLevels(distances, levels, 2, 3, 0)], [0, 0, 1, 0, 0, 1, 1, 0]);
  assert.deepEqual([...countLevels(distances, levels, 2, 3, 9)], [0, 0, 1, 0, 1, 1, 1, 0]);
});
