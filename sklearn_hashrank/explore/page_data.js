import { Codes, countLevels, decodeArray } from "./codes.js";
import { Measures, tiesOf } from "./ranking.js";

/** @typedef {import("./codes.js").EncodedArray} EncodedArray */
/** @typedef {import("./ranking.js").Measured} Measured */
/** @typedef {import("./view_state.js").Method} Method */

/**
 * What Python writes into a page.
 *
 * @typedef {object} GivenPage
 * @property {string} title
 * @property {number} nDatabase
 * @property {number | null} sampledFrom
 * @property {EncodedArray} rows
 * @property {EncodedArray} queries
 * @property {{ words: string[], of: EncodedArray } | null} labels
 * @property {GivenRelevance} relevance
 * @property {{ name: string, description: string, nBits: number, codes: EncodedArray }[]} models
 * @property {GivenExact | null} exact
 * @property {Looks} items
 */

/**
 * @typedef {object} GivenRelevance
 * @property {number[]} levels
 * @property {number[]} gains
 * @property {string} description
 * @property {EncodedArray} [groups]
 * @property {EncodedArray} [ofGroups]
 * @property {EncodedArray} [rows]
 */

/**
 * @typedef {object} GivenExact
 * @property {string} metric
 * @property {number} nNeighbors
 * @property {EncodedArray} ids
 * @property {EncodedArray} distances
 * @property {Record<string, EncodedArray>} measures
 */

/**
 * @typedef {object} Pictures
 * @property {"pictures"} kind
 * @property {string} format
 * @property {number} height
 * @property {number} width
 * @property {number} cellHeight
 * @property {number} cellWidth
 * @property {number} columns
 * @property {string[]} sheets
 * @property {string[]} [names]
 */

/**
 * @typedef {Pictures
 *   | { kind: "texts", texts: string[] }
 *   | { kind: "table", columns: string[], cells: string[][] }
 *   | { kind: "numbers" }} Looks
 */

/** @typedef {Uint8Array | Uint16Array} Levels */

/**
 * A model: its name and its codes.
 *
 * @typedef {{ name: string, description: string, codes: Codes }} Model
 */

/**
 * Neighbors at one distance.
 *
 * @typedef {{ distance: number, items: number[], nRelevant: number }} Group
 */

/**
 * What a method finds for a query, near to far.
 *
 * @typedef {object} Ranking
 * @property {Group[]} groups
 * @property {number[][] | null} ties - items by distance and level, of the whole database
 * @property {Measured} measured
 */

/** The data of a page, decoded. Items are numbered from 0; the first `nDatabase` are retrieved. */
export class PageData {
  /**
   * @param {GivenPage} given
   * @returns {Promise<PageData>}
   */
  static async decode(given) {
    const data = new PageData();
    data.title = given.title;
    data.nDatabase = given.nDatabase;
    data.sampledFrom = given.sampledFrom;
    data.rows = await decodeArray(given.rows);
    data.queries = await decodeArray(given.queries);
    data.items = given.items;
    data.description = given.relevance.description;
    data.levels = given.relevance.levels;
    data.relevance = await Relevance.decode(given.relevance, data);
    data.measures = new Measures(given.nDatabase, given.relevance.gains);
    for (const { name, description, nBits, codes } of given.models) {
      const packed = /** @type {Uint8Array} */ (await decodeArray(codes));
      data.models.push({ name, description, codes: new Codes(packed, nBits) });
    }
    if (given.labels) {
      data.words = given.labels.words;
      data.labels = await decodeArray(given.labels.of);
    }
    if (given.exact) data.exact = await Exact.decode(given.exact);
    data.rows.forEach((row, item) => data.itemOfRow.set(row, item));
    data.queries.forEach((item, place) => data.placeOfQuery.set(item, place));
    return data;
  }

  constructor() {
    this.title = "";
    this.nDatabase = 0;
    /** @type {number | null} */
    this.sampledFrom = null;
    /** @type {import("./codes.js").Numbers} */
    this.rows = new Uint32Array();
    /** @type {import("./codes.js").Numbers} */
    this.queries = new Uint32Array();
    /** @type {Looks} */
    this.items = { kind: "numbers" };
    this.description = "";
    /** @type {number[]} */
    this.levels = [];
    this.relevance = new Relevance(0);
    this.measures = new Measures(0, []);
    /** @type {Model[]} */
    this.models = [];
    /** @type {string[]} */
    this.words = [];
    /** @type {ArrayLike<number> | null} */
    this.labels = null;
    /** @type {Exact | null} */
    this.exact = null;
    /** @type {Map<number, number>} */
    this.itemOfRow = new Map();
    /** @type {Map<number, number>} */
    this.placeOfQuery = new Map();
  }

  /** @returns {Method[]} */
  get methods() {
    /** @type {Method[]} */
    const methods = this.models.length > 1 ? ["a", "b"] : ["a"];
    return this.exact ? [...methods, "exact"] : methods;
  }

  /** @param {Method} method */
  modelOf(method) {
    return this.models[method === "b" ? 1 : 0];
  }

  /** @param {Method} method */
  nameOf(method) {
    if (method === "exact") return `exact ${(this.exact?.metric ?? "").replace("_", " ")} distance`;
    const { name, codes } = this.modelOf(method);
    return `${name}, ${codes.nBits} bits`;
  }

  /** @param {number} item */
  wordOf(item) {
    return this.labels ? this.words[this.labels[item]] : "";
  }

  /**
   * What people may look for: everything that is said about an item.
   *
   * @param {number} item
   */
  textOf(item) {
    const said = [String(this.rows[item]), this.wordOf(item)];
    const { items } = this;
    if (items.kind === "texts") said.push(items.texts[item]);
    else if (items.kind === "table") said.push(...items.cells.map((column) => column[item]));
    else if (items.kind === "pictures" && items.names) said.push(items.names[item]);
    return said.join("\n");
  }

  /** @param {number} item */
  canBeQuery(item) {
    return this.relevance.isByGroups || this.placeOfQuery.has(item);
  }

  /**
   * Rank the database by a method; null where the page does not know how.
   *
   * @param {Method} method
   * @param {number} item
   * @returns {Ranking | null}
   */
  rank(method, item) {
    const levels = this.relevance.levelsFor(item);
    if (!levels) return null;
    if (method !== "exact") return this.rankByCodes(this.modelOf(method).codes, item, levels);
    const place = this.placeOfQuery.get(item);
    if (!this.exact || place === undefined) return null;
    let nRelevant = 0;
    for (let i = 0; i < levels.length; i++) if (levels[i] > 0 && i !== item) nRelevant++;
    return this.exact.rank(place, levels, nRelevant);
  }

  /**
   * @param {Codes} codes
   * @param {number} item
   * @param {Levels} levels
   * @returns {Ranking}
   */
  rankByCodes(codes, item, levels) {
    const distances = codes.distancesFrom(item, this.nDatabase);
    /** @type {Group[]} */
    const groups = Array.from({ length: codes.nBits + 1 }, (_, distance) => ({
      distance,
      items: [],
      nRelevant: 0,
    }));
    for (let i = 0; i < distances.length; i++) {
      if (i === item) continue;
      groups[distances[i]].items.push(i);
      if (levels[i] > 0) groups[distances[i]].nRelevant++;
    }
    const counts = countLevels(distances, levels, this.levels.length, codes.nBits, item);
    const ties = tiesOf(counts, this.levels.length);
    return { groups, ties, measured: this.measures.of(ties) };
  }

  /**
   * Measure a listed query without listing what is found.
   *
   * @param {Method} method
   * @param {number} item
   */
  averagePrecision(method, item) {
    if (method === "exact") {
      return this.exact?.valueOf("ap", this.placeOfQuery.get(item) ?? -1) ?? NaN;
    }
    const levels = this.relevance.levelsFor(item);
    if (!levels) return NaN;
    const { codes } = this.modelOf(method);
    const distances = codes.distancesFrom(item, this.nDatabase);
    const counts = countLevels(distances, levels, this.levels.length, codes.nBits, item);
    return this.measures.averagePrecision(tiesOf(counts, this.levels.length));
  }
}

/** Levels of relevance: of groups of items, or of each listed query with each item. */
class Relevance {
  /**
   * @param {GivenRelevance} given
   * @param {{ nDatabase: number, queries: import("./codes.js").Numbers }} page
   */
  static async decode(given, page) {
    const relevance = new Relevance(page.nDatabase);
    if (given.groups && given.ofGroups) {
      relevance.groups = await decodeArray(given.groups);
      relevance.ofGroups = /** @type {Levels} */ (await decodeArray(given.ofGroups));
    } else if (given.rows) {
      const rows = /** @type {Levels} */ (await decodeArray(given.rows));
      page.queries.forEach((item, place) => {
        const part = rows.subarray(place * page.nDatabase, (place + 1) * page.nDatabase);
        relevance.rowOf.set(item, part);
      });
    }
    return relevance;
  }

  /** @param {number} nDatabase */
  constructor(nDatabase) {
    this.nDatabase = nDatabase;
    /** @type {ArrayLike<number> | null} */
    this.groups = null;
    /** @type {Levels} */
    this.ofGroups = new Uint8Array();
    /** @type {Map<number, Levels>} */
    this.rowOf = new Map();
  }

  get isByGroups() {
    return this.groups !== null;
  }

  /**
   * Levels of the database for a query; null where the page does not have them.
   *
   * @param {number} item
   * @returns {Levels | null}
   */
  levelsFor(item) {
    const { groups, ofGroups, nDatabase } = this;
    if (!groups) return this.rowOf.get(item) ?? null;
    const nGroups = Math.sqrt(ofGroups.length);
    const start = groups[item] * nGroups;
    const levels = new Uint16Array(nDatabase);
    for (let i = 0; i < nDatabase; i++) levels[i] = ofGroups[start + groups[i]];
    return levels;
  }
}

/** The nearest items of each listed query by distances of floats. */
class Exact {
  /** @param {GivenExact} given */
  static async decode(given) {
    const exact = new Exact();
    exact.metric = given.metric;
    exact.nNeighbors = given.nNeighbors;
    exact.ids = await decodeArray(given.ids);
    exact.distances = await decodeArray(given.distances);
    for (const [name, values] of Object.entries(given.measures)) {
      exact.values.set(name, await decodeArray(values));
    }
    return exact;
  }

  constructor() {
    this.metric = "";
    this.nNeighbors = 0;
    /** @type {ArrayLike<number>} */
    this.ids = [];
    /** @type {ArrayLike<number>} */
    this.distances = [];
    /** @type {Map<string, ArrayLike<number>>} */
    this.values = new Map();
  }

  /**
   * A measure of the whole ranking, as it was computed when the page was made.
   *
   * @param {string} name
   * @param {number} place - in the list of queries
   */
  valueOf(name, place) {
    return this.values.get(name)?.[place] ?? NaN;
  }

  /**
   * @param {number} place - in the list of queries
   * @param {Levels} levels
   * @param {number} nRelevant - in the whole database
   * @returns {Ranking}
   */
  rank(place, levels, nRelevant) {
    /** @type {Group[]} */
    const groups = [];
    const start = place * this.nNeighbors;
    for (let at = start; at < start + this.nNeighbors; at++) {
      const item = this.ids[at];
      const distance = this.distances[at];
      if (groups.at(-1)?.distance !== distance) groups.push({ distance, items: [], nRelevant: 0 });
      const group = groups[groups.length - 1];
      group.items.push(item);
      if (levels[item] > 0) group.nRelevant++;
    }
    const measured = {
      nRelevant,
      ap: this.valueOf("ap", place),
      apWorst: this.valueOf("apWorst", place),
      apBest: this.valueOf("apBest", place),
      ndcg: this.valueOf("ndcg", place),
      ndcgWorst: this.valueOf("ndcgWorst", place),
      ndcgBest: this.valueOf("ndcgBest", place),
    };
    return { groups, ties: null, measured };
  }
}
