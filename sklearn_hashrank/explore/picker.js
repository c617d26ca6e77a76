import { button, element } from "./elements.js";
import { growingList } from "./cards.js";
import { counted, shareText } from "./wording.js";

/** @typedef {import("./page_data.js").PageData} PageData */
/** @typedef {import("./view_state.js").ViewState} ViewState */

const QUERIES_SHOWN = { pictures: 60, texts: 30, table: 30, numbers: 60 };

/** The list of queries: searched, by class, in some order. */
export class Picker {
  /**
   * @param {PageData} data
   * @param {import("./cards.js").Cards} cards
   * @param {(changed: Partial<ViewState>) => void} change
   * @param {(item: number) => string | undefined} linkTo
   */
  constructor(data, cards, change, linkTo) {
    this.data = data;
    this.cards = cards;
    this.linkTo = linkTo;
    this.texts = Array.from(data.rows, (_, item) => data.textOf(item).toLowerCase());
    /** @type {number[]} */
    this.items = [];
    this.find = element("input", { type: "search", id: "find", autocomplete: "off" });
    this.find.addEventListener("input", () => change({ find: this.find.value }));
    this.label = element("select", { id: "class" }, element("option", { value: "" }, "all"));
    this.label.append(...data.words.map((word) => element("option", { value: word }, word)));
    this.label.addEventListener("change", () => change({ label: this.label.value }));
    this.order = element(
      "select",
      { id: "order" },
      element("option", { value: "row" }, "by row"),
      element("option", { value: "worst" }, "worst AP first"),
      element("option", { value: "best" }, "best AP first"),
    );
    this.order.addEventListener("change", () => {
      change({ order: /** @type {import("./view_state.js").Order} */ (this.order.value) });
    });
    this.count = element("p", { class: "quiet", id: "found", role: "status" });
    this.list = element("div", { class: "queries" });
    this.list.addEventListener("keydown", (event) => this.moveFocus(event));
    const random = button("Random query", () => change({ query: this.randomRow() }), { id: "random" });
    this.root = element(
      "section",
      { class: "picker", "aria-labelledby": "picker-heading" },
      element("h2", { id: "picker-heading" }, "Queries"),
      field("find", "Find in texts, labels and rows", this.find),
      element(
        "div",
        { class: "fields" },
        data.labels ? field("class", "Label", this.label) : "",
        field("order", "Order", this.order),
      ),
      random,
      this.count,
      this.list,
    );
  }

  /**
   * @param {ViewState} state
   * @param {ArrayLike<number> | null} scores - AP of the listed queries; null while unknown
   */
  show(state, scores) {
    if (this.find.value !== state.find) this.find.value = state.find;
    this.label.value = state.label;
    this.order.value = state.order;
    this.items = this.chosen(state, scores);
    const isWaiting = state.order !== "row" && !scores;
    this.count.textContent = isWaiting
      ? "Measuring all queries\u2026"
      : this.items.length
        ? counted(this.items.length, "query", "queries")
        : "No query holds this text. Search for less.";
    const noteOf = (/** @type {number} */ item) => {
      const place = this.data.placeOfQuery.get(item);
      if (state.order === "row" || !scores || place === undefined) return undefined;
      return `AP ${shareText(scores[place])}`;
    };
    const entryOf = (/** @type {number} */ item) =>
      this.cards.entry(item, { href: this.linkTo(item), note: noteOf(item) });
    this.list.replaceChildren(
      growingList(this.items, entryOf, QUERIES_SHOWN[this.data.items.kind], () => this.oneStop()),
    );
    this.oneStop();
  }

  /**
   * @param {ViewState} state
   * @param {ArrayLike<number> | null} scores
   */
  chosen({ find, label, order }, scores) {
    const { data } = this;
    const wanted = find.trim().toLowerCase();
    const all = wanted && data.relevance.isByGroups;
    let items = all ? Array.from(data.rows, (_, item) => item) : Array.from(data.queries);
    if (wanted) items = items.filter((item) => this.texts[item].includes(wanted));
    if (label) items = items.filter((item) => data.wordOf(item) === label);
    if (order === "row" || !scores) return items;
    const sign = order === "worst" ? 1 : -1;
    const scoreOf = (/** @type {number} */ item) => {
      const score = scores[data.placeOfQuery.get(item) ?? -1] ?? NaN;
      return Number.isNaN(score) ? Infinity : sign * score; // unknown ones come last
    };
    return items.map((item) => ({ item, score: scoreOf(item) }))
      .sort((a, b) => (a.score === b.score ? a.item - b.item : a.score - b.score))
      .map(({ item }) => item);
  }

  randomRow() {
    const items = this.items.length ? this.items : Array.from(this.data.queries);
    return this.data.rows[items[Math.floor(Math.random() * items.length)]];
  }

  /**
   * The row so many places after that of a query in the list.
   *
   * @param {number | null} row
   * @param {number} step
   */
  rowAfter(row, step) {
    const place = this.items.findIndex((item) => this.data.rows[item] === row);
    const next = Math.min(this.items.length - 1, Math.max(0, place + step));
    return this.items.length ? this.data.rows[this.items[place < 0 ? 0 : next]] : row;
  }

  /**
   * Mark the query in the list.
   *
   * @param {number | null} row
   */
  mark(row) {
    for (const link of this.list.querySelectorAll("a")) {
      if (Number(link.dataset.row) === row) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    this.oneStop();
  }

  /** Let the tabulator key stop at one entry; arrow keys move among them. */
  oneStop() {
    const links = [...this.list.querySelectorAll("a")];
    const stop = links.find((link) => link.hasAttribute("aria-current")) ?? links[0];
    for (const link of links) link.tabIndex = link === stop ? 0 : -1;
  }

  /** @param {KeyboardEvent} event */
  moveFocus(event) {
    const links = [...this.list.querySelectorAll("a")];
    const place = links.indexOf(/** @type {HTMLAnchorElement} */ (event.target));
    if (place < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const below = links.findIndex((link) => link.offsetTop > links[place].offsetTop);
    const across = below < 0 ? 1 : links.filter((l) => l.offsetTop === links[place].offsetTop).length;
    /** @type {Record<string, number>} */
    const goals = {
      ArrowLeft: place - 1,
      ArrowRight: place + 1,
      ArrowUp: place - across,
      ArrowDown: place + across,
      Home: 0,
      End: links.length - 1,
    };
    if (!(event.key in goals)) return;
    event.preventDefault();
    const goal = goals[event.key];
    links[Math.min(links.length - 1, Math.max(0, goal))].focus();
  }
}

/**
 * @param {string} id
 * @param {string} text
 * @param {HTMLElement} control
 */
function field(id, text, control) {
  return element("p", { class: "field" }, element("label", { for: id }, text), control);
}
