import { element } from "./elements.js";
import { growingList } from "./cards.js";
import { histogramChart } from "./chart.js";
import { furthestReach, groupsWithin, usualReach } from "./found.js";
import { countText, counted, shareText, tiesText } from "./wording.js";

/** @typedef {import("./cards.js").Cards} Cards */
/** @typedef {import("./page_data.js").PageData} PageData */
/** @typedef {import("./page_data.js").Ranking} Ranking */
/** @typedef {import("./view_state.js").Method} Method */

const SHOWN_OF_GROUP = 12;

/**
 * What a column asks of the page.
 *
 * @typedef {object} Asked
 * @property {(method: string) => void} choose
 * @property {(method: Method, reach: number) => void} reach
 * @property {(item: number) => string | undefined} linkTo
 */

/** The neighbors of the query by one method. */
export class MethodColumn {
  /**
   * @param {PageData} data
   * @param {Cards} cards
   * @param {string} place - "model" or "beside"
   * @param {Asked} asked
   */
  constructor(data, cards, place, asked) {
    this.data = data;
    this.cards = cards;
    this.asked = asked;
    this.place = place;
    /** @type {Method} */
    this.method = "a";
    /** @type {Ranking | null} */
    this.ranking = null;
    /** @type {ArrayLike<number>} */
    this.levels = [];
    const id = `${place}-choice`;
    this.choice = element("select", { id });
    const options = data.methods.map((method) => option(method, data.nameOf(method)));
    if (place === "beside") options.push(option("none", "nothing beside"));
    this.choice.append(...options);
    this.choice.addEventListener("change", () => asked.choose(this.choice.value));
    this.measures = element("dl", { class: "measures" });
    this.chart = element("div", { class: "chart" });
    this.slider = element("input", { type: "range", min: 0, id: `${place}-reach` });
    this.slider.addEventListener("input", () => asked.reach(this.method, Number(this.slider.value)));
    this.sliderLabel = element("label", { for: `${place}-reach` });
    this.within = element("p", { class: "within" });
    this.groups = element("div", { class: "groups" });
    this.heading = element("h3", { id: `${place}-heading` });
    this.body = element(
      "div",
      {},
      this.measures,
      this.chart,
      element("div", { class: "reach" }, this.sliderLabel, this.slider),
      this.within,
      this.groups,
    );
    this.problem = element("p", { class: "note", hidden: true });
    const label = place === "model" ? "Neighbors by" : "Beside";
    this.root = element(
      "section",
      { class: "column", "aria-labelledby": `${place}-heading` },
      this.heading,
      element("p", { class: "choice" }, element("label", { for: id }, label), " ", this.choice),
      this.problem,
      this.body,
    );
  }

  /**
   * @param {Method | "none"} method
   * @param {number} query
   * @param {number | undefined} reach
   * @returns {number[]} the items within reach, near to far
   */
  show(method, query, reach) {
    this.choice.value = method;
    const isEmpty = method === "none";
    const ranking = isEmpty ? null : this.data.rank(method, query);
    this.ranking = ranking;
    this.levels = this.data.relevance.levelsFor(query) ?? [];
    this.body.hidden = ranking === null;
    this.problem.hidden = ranking !== null || isEmpty;
    this.heading.textContent = isEmpty ? "Nothing beside" : this.data.nameOf(method);
    this.root.classList.toggle("empty", isEmpty);
    if (isEmpty || !ranking) {
      const kept = countText(this.data.queries.length);
      this.problem.textContent =
        `The page keeps exact neighbors for the ${kept} listed queries only.`;
      return [];
    }
    this.method = method;
    const most = furthestReach(method, ranking);
    const least = method === "exact" ? 1 : 0;
    const wanted = Math.min(most, Math.max(least, reach ?? usualReach(method, ranking)));
    this.slider.min = String(least);
    this.slider.max = String(most);
    this.slider.value = String(wanted);
    this.sliderLabel.textContent =
      method === "exact" ? `Nearest ${wanted}` : `Radius ${counted(wanted, "bit")}`;
    this.showMeasures(ranking);
    this.showChart(ranking, wanted);
    return this.showGroups(ranking, wanted);
  }

  /** @param {Ranking} ranking */
  showMeasures({ measured }) {
    const { nRelevant } = measured;
    const rows = [
      measureRow("AP", measured.ap, measured.apWorst, measured.apBest),
      measureRow("NDCG", measured.ndcg, measured.ndcgWorst, measured.ndcgBest),
    ];
    this.measures.replaceChildren(...rows);
    if (nRelevant === 0) {
      this.measures.replaceChildren(
        element("div", {}, element("dt", {}, "AP and NDCG"), element("dd", {}, "undefined: nothing is relevant to this query")),
      );
    }
  }

  /**
   * @param {Ranking} ranking
   * @param {number} reach
   */
  showChart({ ties }, reach) {
    const wasOpen = this.chart.querySelector("details")?.open ?? false;
    if (!ties) {
      const text =
        "Measures of the whole ranking, computed when the page was made. Of the neighbors, the " +
        "page keeps the nearest.";
      this.chart.replaceChildren(element("p", { class: "quiet" }, text));
      return;
    }
    this.chart.replaceChildren(
      histogramChart(ties, this.data.levels, reach, `hatching-${this.place}`),
    );
    const details = this.chart.querySelector("details");
    if (details) details.open = wasOpen;
  }

  /**
   * @param {Ranking} ranking
   * @param {number} reach
   */
  showGroups(ranking, reach) {
    const groups = groupsWithin(this.method, ranking, reach);
    const items = groups.flatMap((group) => group.items);
    const nRelevant = groups.reduce((sum, group) => sum + group.nRelevant, 0);
    const all = ranking.measured.nRelevant;
    const precision = items.length ? `, precision ${shareText(nRelevant / items.length)}` : "";
    const recall = all ? `, recall ${shareText(nRelevant / all)}` : "";
    this.within.textContent =
      `${counted(items.length, "item")} within: ${countText(nRelevant)} of ` +
      `${countText(all)} relevant${precision}${recall}.`;
    const shown = this.method === "exact" ? [flat(groups)] : groups;
    this.groups.replaceChildren(...shown.map(this.groupSection, this));
    return items;
  }

  /** @param {import("./page_data.js").Group} group */
  groupSection(group) {
    const heading = element("h4", {});
    const list = growingList(
      group.items,
      (item) => this.cards.entry(item, { level: this.levels[item], href: this.asked.linkTo(item) }),
      SHOWN_OF_GROUP,
      (nShown) => {
        heading.textContent =
          this.method === "exact"
            ? `Nearest ${counted(group.items.length, "item")}, ${countText(group.nRelevant)} relevant`
            : `${counted(group.distance, "bit")}: ${tiesText(group, nShown)}`;
      },
    );
    const attributes = { class: "group", "data-distance": group.distance };
    return element("section", attributes, heading, list);
  }
}

/**
 * All groups as one, where there are hardly any ties.
 *
 * @param {import("./page_data.js").Group[]} groups
 */
function flat(groups) {
  return {
    distance: groups.at(-1)?.distance ?? 0,
    items: groups.flatMap(({ items }) => items),
    nRelevant: groups.reduce((sum, { nRelevant }) => sum + nRelevant, 0),
  };
}

/**
 * @param {string} name
 * @param {number} value
 * @param {number} worst
 * @param {number} best
 */
function measureRow(name, value, worst, best) {
  const [low, high] = [shareText(worst), shareText(best)];
  const range = low === high ? "in any order of ties" : `${low} to ${high} by the order of ties`;
  return element(
    "div",
    {},
    element("dt", {}, name, element("sub", {}, "T")),
    element(
      "dd",
      { "data-measure": name.toLowerCase(), "data-value": value, "data-worst": worst, "data-best": best },
      element("b", {}, shareText(value)),
      " ",
      element("span", { class: "quiet" }, range),
    ),
  );
}

/**
 * @param {string} value
 * @param {string} text
 */
function option(value, text) {
  return element("option", { value }, text);
}
