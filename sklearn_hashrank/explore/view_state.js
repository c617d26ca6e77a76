/**
 * What a page shows, and the link that restores it.
 */

/** @typedef {"a" | "b" | "exact"} Method */

/**
 * @typedef {object} ViewState
 * @property {number | null} query - number of a row
 * @property {Method} model - the first column
 * @property {Method | "none"} beside - the second column
 * @property {Partial<Record<Method, number>>} reach - radius in bits, or how many by exact distance
 * @property {Order} order
 * @property {string} label - word of a label that queries must have
 * @property {string} find - text that queries must hold
 */

/** @typedef {"row" | "worst" | "best"} Order */

/** @type {Record<Method, string>} */
const REACH_KEYS = { a: "radius-a", b: "radius-b", exact: "nearest" };
const ORDERS = ["row", "worst", "best"];

/**
 * Read the part of a link after its `#`; what it does not say, or says wrongly, stays as given.
 *
 * @param {string} hash
 * @param {Method[]} methods - those that the page has
 * @param {ViewState} otherwise
 * @returns {ViewState}
 */
export function readHash(hash, methods, otherwise) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { ...otherwise, reach: { ...otherwise.reach } };
  const query = numberOf(given.get("query"));
  if (query !== null) state.query = query;
  const model = methods.find((method) => method === given.get("model"));
  if (model) state.model = model;
  const beside = [...methods, "none"].find((method) => method === given.get("beside"));
  if (beside) state.beside = /** @type {Method | "none"} */ (beside);
  else if (state.beside === state.model) state.beside = otherwise.model;
  if (state.beside === state.model) state.beside = "none";
  for (const method of methods) {
    const reach = numberOf(given.get(REACH_KEYS[method]));
    if (reach !== null) state.reach[method] = reach;
  }
  const order = given.get("order");
  if (order && ORDERS.includes(order)) state.order = /** @type {Order} */ (order);
  state.label = given.get("class") ?? state.label;
  state.find = given.get("find") ?? state.find;
  return state;
}

/**
 * Write the part of a link after its `#`.
 *
 * @param {ViewState} state
 * @returns {string}
 */
export function writeHash(state) {
  const said = new URLSearchParams();
  if (state.query !== null) said.set("query", String(state.query));
  said.set("model", state.model);
  said.set("beside", state.beside);
  for (const [method, key] of Object.entries(REACH_KEYS)) {
    const reach = state.reach[/** @type {Method} */ (method)];
    if (reach !== undefined) said.set(key, String(reach));
  }
  if (state.order !== "row") said.set("order", state.order);
  if (state.label) said.set("class", state.label);
  if (state.find) said.set("find", state.find);
  return `#${said}`;
}

/** @param {string | null} text */
function numberOf(text) {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}
