/**
 * Codes, as a page keeps them, and their Hamming distances.
 */

/** @typedef {Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array} Numbers */
/** @typedef {{ type: string, deflated: boolean, base64: string }} EncodedArray */

const ARRAYS = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  float32: Float32Array,
  float64: Float64Array,
};

/**
 * @param {string} base64
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/**
 * Decode an array of numbers.
 *
 * @param {EncodedArray} encoded
 * @returns {Promise<Numbers>}
 */
export async function decodeArray({ type, deflated, base64 }) {
  if (!(type in ARRAYS)) throw new Error(`arrays of ${type} are not known`);
  let { buffer } = bytesOf(base64);
  if (deflated) {
    const inflated = new Blob([buffer]).stream().pipeThrough(new DecompressionStream("deflate"));
    buffer = await new Response(inflated).arrayBuffer();
  }
  return new ARRAYS[/** @type {keyof typeof ARRAYS} */ (type)](buffer);
}

/**
 * How many bits of a word of 32 are 1.
 *
 * @param {number} word
 */
export function popcount(word) {
  word -= (word >>> 1) & 0x55555555;
  word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
  return Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Codes of items, searched one by one. */
export class Codes {
  /**
   * @param {Uint8Array} packed - `ceil(nBits / 8)` bytes of each item
   * @param {number} nBits
   */
  constructor(packed, nBits) {
    this.packed = packed;
    this.nBits = nBits;
    this.nBytes = Math.ceil(nBits / 8);
    this.nItems = packed.length / this.nBytes;
    this.nWords = Math.ceil(nBits / 32);
    this.words = new Uint32Array(this.nItems * this.nWords);
    const padded = new Uint8Array(this.words.buffer);
    for (let i = 0; i < this.nItems; i++) {
      const code = packed.subarray(i * this.nBytes, (i + 1) * this.nBytes);
      padded.set(code, i * this.nWords * 4);
    }
  }

  /**
   * Hamming distances from an item to the first `nDatabase` items.
   *
   * @param {number} item
   * @param {number} nDatabase
   */
  distancesFrom(item, nDatabase) {
    const { words, nWords } = this;
    const distances = new Uint16Array(nDatabase);
    for (let w = 0; w < nWords; w++) {
      const query = words[item * nWords + w];
      for (let i = 0, at = w; i < nDatabase; i++, at += nWords) {
        distances[i] += popcount(words[at] ^ query);
      }
    }
    return distances;
  }

  /**
   * The bits of an item's code, as a string of 0 and 1.
   *
   * @param {number} item
   */
  bitsOf(item) {
    const code = this.packed.subarray(item * this.nBytes, (item + 1) * this.nBytes);
    return [...code].map((byte) => byte.toString(2).padStart(8, "0")).join("").slice(0, this.nBits);
  }

  /**
   * Items by their code, for the first `nDatabase` items.
   *
   * @param {number} nDatabase
   * @returns {number[][]} the items of each distinct code, the fullest first
   */
  itemsByCode(nDatabase) {
    /** @type {Map<string, number[]>} */
    const groups = new Map();
    for (let i = 0; i < nDatabase; i++) {
      const key = String.fromCharCode(
        ...this.packed.subarray(i * this.nBytes, (i + 1) * this.nBytes),
      );
      const items = groups.get(key);
      if (items) items.push(i);
      else groups.set(key, [i]);
    }
    return [...groups.values()].sort((a, b) => b.length - a.length || a[0] - b[0]);
  }
}

/**
 * Count items by level and distance: entry `level * (nBits + 1) + distance`.
 *
 * @param {Uint16Array} distances
 * @param {Uint8Array | Uint16Array} levels
 * @param {number} nLevels
 * @param {number} nBits
 * @param {number} self - the query's place in the database, or any other number
 */
export function countLevels(distances, levels, nLevels, nBits, self) {
  const counts = new Uint32Array(nLevels * (nBits + 1));
  for (let i = 0; i < distances.length; i++) {
    if (i !== self) counts[levels[i] * (nBits + 1) + distances[i]]++;
  }
  return counts;
}
