import { button, element } from "./elements.js";
import { Cards } from "./cards.js";
import { differenceSection } from "./difference.js";
import { MethodColumn } from "./method_column.js";
import { PageData } from "./page_data.js";
import { Picker } from "./picker.js";
import { usageSection } from "./usage.js";
import { readHash, writeHash } from "./view_state.js";
import { countText, counted, shareText } from "./wording.js";

/** @typedef {import("./view_state.js").Method} Method */
/** @typedef {import("./view_state.js").ViewState} ViewState */

const SLICE_MILLISECONDS = 12;
const KEYS = [
  ["n, p", "next and previous query of the list"],
  ["r", "random query"],
  ["[, ]", "smaller and larger radius"],
  ["s", "swap the two columns"],
  ["/", "find"],
  ["arrow keys", "move in the list of queries"],
];

/** The page: what is shown, and what changes it. */
class Explorer {
  /** @param {PageData} data */
  constructor(data) {
    this.data = data;
    this.cards = new Cards(data);
    this.initial = this.initialState();
    /** @type {ViewState} */
    this.state = readHash(location.hash, data.methods, this.initial);
    /** @type {Map<Method, Float64Array>} */
    this.scores = new Map();
    this.linkTo = this.linkTo.bind(this);
    this.picker = new Picker(data, this.cards, (changed) => this.change(changed), this.linkTo);
    const asked = (/** @type {"model" | "beside"} */ place) => ({
      choose: (/** @type {string} */ method) => this.choose(place, method),
      reach: (/** @type {Method} */ method, /** @type {number} */ reach) =>
        this.change({ reach: { ...this.state.reach, [method]: reach } }, true),
      linkTo: this.linkTo,
    });
    this.first = new MethodColumn(data, this.cards, "model", asked("model"));
    this.second = new MethodColumn(data, this.cards, "beside", asked("beside"));
    this.query = element("div", { class: "query", id: "query" });
    this.queryHeading = element("h2", { id: "neighbors", tabindex: -1 });
    this.difference = element("section", { class: "difference", "aria-labelledby": "difference" });
    this.usage = element("details", { class: "usages" }, element("summary", {}, "Code usage: the fullest codes and what sits in them"));
    this.usage.addEventListener("toggle", () => this.showUsage());
    this.help = this.helpDialog();
    this.build();
  }

  /** @returns {ViewState} */
  initialState() {
    const { methods, queries, rows } = this.data;
    return {
      query: queries.length ? rows[queries[0]] : null,
      model: "a",
      beside: methods[1] ?? "none",
      reach: {},
      order: "row",
      label: "",
      find: "",
    };
  }

  build() {
    const app = byId("app");
    app.append(
      this.picker.root,
      element(
        "div",
        { class: "results" },
        this.queryHeading,
        this.query,
        element("div", { class: "columns" }, this.first.root, this.second.root),
        this.difference,
        this.usage,
      ),
      this.help,
    );
    app.hidden = false;
    byId("about").append(...this.about());
    window.addEventListener("hashchange", () => {
      this.state = readHash(location.hash, this.data.methods, this.initial);
      this.show();
    });
    document.addEventListener("keydown", (event) => this.pressed(event));
    this.summarize();
    this.show();
    this.measureAll();
  }

  /**
   * A link to an item as the query; undefined where it cannot be one.
   *
   * @param {number} item
   */
  linkTo(item) {
    if (!this.data.canBeQuery(item)) return undefined;
    return writeHash({ ...this.state, query: this.data.rows[item] });
  }

  /**
   * Show something else, and let the address say so.
   *
   * @param {Partial<ViewState>} changed
   * @param {boolean} isMoving - while a slider moves, which is no step to go back to
   */
  change(changed, isMoving = false) {
    const isStep = !isMoving && changed.find === undefined;
    this.state = { ...this.state, ...changed };
    const hash = writeHash(this.state);
    if (isStep) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
    this.show(changed);
  }

  /**
   * @param {"model" | "beside"} place
   * @param {string} chosen
   */
  choose(place, chosen) {
    const { model, beside } = this.state;
    const method = /** @type {Method} */ (chosen);
    if (place === "model") {
      this.change({ model: method, beside: method === beside ? model : beside });
    } else if (method === model && beside !== "none") {
      this.change({ model: beside, beside: method });
    } else if (method !== model) {
      this.change({ beside: method });
    } else this.show();
  }

  /** @param {Partial<ViewState>} [changed] - what may have changed; all of it by default */
  show(changed) {
    const { state, data } = this;
    const isAny = (/** @type {(keyof ViewState)[]} */ ...keys) =>
      !changed || keys.some((key) => key in changed);
    if (isAny("find", "label", "order", "model")) {
      this.picker.show(state, this.scores.get(state.model) ?? null);
    }
    const item = state.query === null ? undefined : data.itemOfRow.get(state.query);
    const isKnown = item !== undefined && data.canBeQuery(item);
    this.showFailure(isKnown ? "" : this.unknownQuery());
    this.picker.mark(isKnown ? state.query : null);
    if (!isKnown) return;
    if (isAny("query")) this.showQuery(item);
    const first = this.first.show(state.model, item, state.reach[state.model]);
    const reach = state.beside === "none" ? undefined : state.reach[state.beside];
    const second = this.second.show(state.beside, item, reach);
    this.showDifference(item, first, second);
    this.say(item);
  }

  unknownQuery() {
    const where = this.data.sampledFrom ? " The page holds a sample of the data." : "";
    return `Row ${this.state.query} cannot be a query on this page.${where} Pick one from the list.`;
  }

  /** @param {string} text */
  showFailure(text) {
    const place = byId("failure");
    place.hidden = text === "";
    place.textContent = text;
  }

  /** @param {number} item */
  showQuery(item) {
    this.queryHeading.textContent = `Query: ${this.cards.nameOf(item)}`;
    const kind = this.data.items.kind;
    this.query.replaceChildren(
      element("div", { class: `item large ${kind}` }, ...this.cards.parts(item, false)),
      element(
        "p",
        { class: "buttons" },
        button("Previous", () => this.step(-1)),
        " ",
        button("Next", () => this.step(1)),
        " ",
        button("Keys", () => this.help.showModal()),
      ),
    );
  }

  /**
   * @param {number} item
   * @param {number[]} first
   * @param {number[]} second
   */
  showDifference(item, first, second) {
    const { model, beside } = this.state;
    const levels = this.data.relevance.levelsFor(item);
    this.difference.hidden = beside === "none" || !levels || !this.second.ranking;
    if (this.difference.hidden || beside === "none" || !levels) return;
    this.difference.replaceChildren(
      element("h2", { id: "difference" }, "What one finds and the other does not"),
      ...differenceSection(
        this.cards,
        { name: this.data.nameOf(model), items: first },
        { name: this.data.nameOf(beside), items: second },
        levels,
        this.linkTo,
      ),
    );
  }

  showUsage() {
    if (!this.usage.open || this.usage.querySelector(".columns")) return;
    const sections = this.data.models.map((model) =>
      usageSection(this.data, this.cards, model, (item) => this.linkTo(item)),
    );
    this.usage.append(element("div", { class: "columns" }, ...sections));
  }

  /**
   * Tell readers of screens what is shown now.
   *
   * @param {number} item
   */
  say(item) {
    const within = [this.first, this.second]
      .filter((column) => column.ranking)
      .map((column) => `${this.data.nameOf(column.method)}: ${column.within.textContent}`);
    byId("said").textContent = `Query ${this.cards.nameOf(item)}. ${within.join(" ")}`;
  }

  /** @param {number} step */
  step(step) {
    const query = this.picker.rowAfter(this.state.query, step);
    if (query !== this.state.query) this.change({ query });
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const { target } = event;
    const isTyping =
      target instanceof HTMLSelectElement ||
      (target instanceof HTMLInputElement && target.type !== "range");
    const isModified = event.ctrlKey || event.metaKey || event.altKey;
    if (isTyping || isModified || this.help.open || !this.hasKeys) return;
    /** @type {Record<string, () => void>} */
    const actions = {
      n: () => this.step(1),
      p: () => this.step(-1),
      r: () => this.change({ query: this.picker.randomRow() }),
      s: () => this.state.beside !== "none" && this.choose("model", this.state.beside),
      "[": () => this.widen(-1),
      "]": () => this.widen(1),
      "/": () => this.picker.find.focus(),
      "?": () => this.help.showModal(),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  /** @param {number} step */
  widen(step) {
    const { slider, method } = this.first;
    const reach = Number(slider.value) + step;
    if (reach < Number(slider.min) || reach > Number(slider.max)) return;
    this.change({ reach: { ...this.state.reach, [method]: reach } }, true);
  }

  get hasKeys() {
    return this.help.querySelector("input")?.checked ?? true;
  }

  helpDialog() {
    const rows = KEYS.flatMap(([keys, does]) => [
      element("dt", {}, element("kbd", {}, keys)),
      element("dd", {}, does),
    ]);
    const use = element("input", { type: "checkbox", id: "use-keys", checked: true });
    const dialog = element(
      "dialog",
      { "aria-labelledby": "keys-heading" },
      element("h2", { id: "keys-heading" }, "Keys"),
      element("dl", {}, ...rows),
      element("p", {}, use, " ", element("label", { for: "use-keys" }, "Use these keys")),
      button("Close", () => dialog.close()),
    );
    return dialog;
  }

  /** Measure all listed queries by each method, a few milliseconds at a time. */
  async measureAll() {
    for (const method of this.data.methods) {
      const scores = new Float64Array(this.data.queries.length);
      let until = performance.now() + SLICE_MILLISECONDS;
      for (const [place, item] of this.data.queries.entries()) {
        scores[place] = this.data.averagePrecision(method, item);
        if (performance.now() < until) continue;
        await new Promise((resolve) => setTimeout(resolve));
        until = performance.now() + SLICE_MILLISECONDS;
      }
      this.scores.set(method, scores);
      this.summarize();
      if (this.state.model === method && this.state.order !== "row") this.show({ order: this.state.order });
    }
    byId("summary").dataset.complete = "true";
  }

  summarize() {
    const { data } = this;
    const parts = [
      counted(data.nDatabase, "item"),
      counted(data.queries.length, "query", "queries"),
    ];
    for (const [method, scores] of this.scores) {
      const defined = scores.filter((score) => !Number.isNaN(score));
      const mean = defined.reduce((a, b) => a + b, 0) / defined.length;
      parts.push(`mean AP of ${data.nameOf(method)}: ${shareText(mean)}`);
    }
    byId("summary").textContent = parts.join(" \u00b7 ");
  }

  about() {
    const { data } = this;
    const facts = [
      ["Relevance", data.description],
      ...data.models.map(({ name, description }) => [`Model ${name}`, description]),
      [
        "Ties",
        "Items at the same Hamming distance are tied. AP and NDCG are exact means over all orders " +
          "of tied items, with their range from the worst to the best order.",
      ],
    ];
    if (data.exact) {
      const text =
        `${countText(data.exact.nNeighbors)} neighbors of each listed query by ` +
        `${data.exact.metric.replace("_", " ")} distance, in full precision.`;
      facts.push(["Exact neighbors", text]);
    }
    const rows = facts.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]);
    return [element("h2", {}, "About this page"), element("dl", {}, ...rows)];
  }
}

/** @param {string} id */
function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found;
}

try {
  const given = JSON.parse(byId("data").textContent ?? "");
  const explorer = new Explorer(await PageData.decode(given));
  byId("app").dataset.ready = String(explorer.data.nDatabase);
} catch (error) {
  byId("failure").hidden = false;
  byId("failure").textContent = `This page cannot be shown: ${error}`;
  throw error;
}
