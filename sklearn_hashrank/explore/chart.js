import { element } from "./elements.js";
import { drawing } from "./drawing.js";
import { relevantOf, totalOf } from "./ranking.js";
import { countText, counted } from "./wording.js";

const WIDTH = 480;
const HEIGHT = 120;
const FOOT = 16;

/**
 * Draw how many items of each level lie at each distance, with a table of the numbers.
 *
 * @param {number[][]} ties - counts by distance and level
 * @param {number[]} levels
 * @param {number} radius
 * @param {string} pattern - a name for the hatching, unlike all others on the page
 */
export function histogramChart(ties, levels, radius, pattern) {
  const totals = ties.map(totalOf);
  const most = Math.max(1, ...totals);
  const used = totals.findLastIndex((total) => total > 0);
  const step = WIDTH / ties.length;
  const bars = [];
  for (const [distance, tie] of ties.entries()) {
    let top = HEIGHT;
    for (let level = levels.length - 1; level >= 0; level--) {
      const height = (tie[level] / most) * (HEIGHT - 4);
      if (height === 0) continue;
      top -= height;
      bars.push(
        drawing("rect", {
          x: (distance * step + step * 0.08).toFixed(2),
          y: top.toFixed(2),
          width: (step * 0.84).toFixed(2),
          height: height.toFixed(2),
          class: level > 0 ? "bar relevant" : "bar irrelevant",
          fill: level > 0 ? undefined : `url(#${pattern})`,
          "fill-opacity": level > 0 ? (0.35 + (0.65 * level) / (levels.length - 1)).toFixed(2) : undefined,
        }),
      );
    }
  }
  const edge = Math.min(WIDTH - 1, (radius + 1) * step);
  const every = Math.max(1, Math.ceil(ties.length / 8));
  const marks = ties.flatMap((_, distance) =>
    distance % every ? [] : [axisMark(distance, (distance + 0.5) * step)],
  );
  const nRelevant = ties.reduce((sum, tie) => sum + relevantOf(tie), 0);
  const picture = drawing(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT + FOOT}`,
      role: "img",
      "aria-label":
        `Items by distance: ${countText(nRelevant)} relevant ones of ` +
        `${countText(totals.reduce((a, b) => a + b, 0))}, up to ${counted(used, "bit")} away. ` +
        "The numbers are in the table below.",
    },
    hatching(pattern),
    drawing("line", { x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT, class: "axis" }),
    ...bars,
    drawing("line", { x1: edge, x2: edge, y1: 0, y2: HEIGHT, class: "edge" }),
    ...marks,
  );
  return element("figure", {}, picture, legend(), numbers(ties, levels));
}

/** @param {string} pattern */
function hatching(pattern) {
  const size = { width: 5, height: 5, patternUnits: "userSpaceOnUse" };
  return drawing(
    "defs",
    {},
    drawing(
      "pattern",
      { id: pattern, ...size, patternTransform: "rotate(45)" },
      drawing("rect", { width: 5, height: 5, class: "ground" }),
      drawing("rect", { width: 2, height: 5, class: "stripe" }),
    ),
  );
}

/**
 * @param {number} distance
 * @param {number} x
 */
function axisMark(distance, x) {
  const place = { x: x.toFixed(1), y: HEIGHT + FOOT - 3, class: "axis-mark" };
  return drawing("text", place, String(distance));
}

function legend() {
  return element(
    "figcaption",
    { class: "quiet" },
    element("span", { class: "key relevant" }),
    "relevant ",
    element("span", { class: "key irrelevant" }),
    "not relevant, by distance in bits; the line is the radius",
  );
}

/**
 * @param {number[][]} ties
 * @param {number[]} levels
 */
function numbers(ties, levels) {
  const details = element("details", {}, element("summary", {}, "The same in numbers"));
  const names = levels.map((level) => (level === 0 ? "not relevant" : `level ${level}`));
  if (levels.length === 2) names[1] = "relevant";
  const head = ["bits", ...names].map((name) => element("th", { scope: "col" }, name));
  const rows = ties.map((tie, distance) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, String(distance)),
      ...tie.map((count) => element("td", {}, countText(count))),
    ),
  );
  const table = element(
    "table",
    { class: "histogram" },
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...rows),
  );
  details.append(element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Items by distance" }, table));
  return details;
}
