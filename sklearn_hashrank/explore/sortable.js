import { element } from "./elements.js";

/** What stands where there is no value. */
const NO_VALUE = "\u2013";

/**
 * Let the headings of a table sort it: best first, worst first, and as it was.
 *
 * A cell counts by its `data-mean`, or else by its text. `data-best="lowest"` of the table says
 * that low values are the better ones. Rows of the class `group` are headings.
 *
 * @param {HTMLTableElement} table
 */
export function makeSortable(table) {
  const body = table.tBodies[0];
  const heads = [...(table.tHead?.rows[0].cells ?? [])];
  const original = [...body.rows];
  const rows = original.filter((row) => !row.classList.contains("group"));
  if (rows.length < 2) return;
  let place = -1;
  let turn = 0;

  /** @param {HTMLTableRowElement} row */
  function valueOf(row) {
    const cell = row.cells[place];
    if (!cell) return "";
    const text = cell.dataset.mean ?? cell.textContent ?? "";
    const number = Number(text);
    return text.trim() === "" || Number.isNaN(number) ? text : number;
  }

  /**
   * @param {HTMLTableRowElement} a
   * @param {HTMLTableRowElement} b
   */
  function ascending(a, b) {
    const [x, y] = [valueOf(a), valueOf(b)];
    if (typeof x === "number" && typeof y === "number") return x - y;
    return String(x).localeCompare(String(y));
  }

  /** @param {HTMLTableRowElement} row */
  function isMissing(row) {
    return valueOf(row) === NO_VALUE || valueOf(row) === "";
  }

  function show() {
    for (const head of heads) head.removeAttribute("aria-sort");
    if (turn === 0) {
      body.replaceChildren(...original);
      return;
    }
    const lowestFirst = (place === 0 || table.dataset.best === "lowest") === (turn === 1);
    const known = rows.filter((row) => !isMissing(row)).sort(ascending);
    if (!lowestFirst) known.reverse();
    heads[place].setAttribute("aria-sort", lowestFirst ? "ascending" : "descending");
    body.replaceChildren(...known, ...rows.filter(isMissing));
  }

  for (const [i, head] of heads.entries()) {
    const title = "Sort by this column: best first, worst first, as it was";
    const sort = element("button", { type: "button", title }, ...head.childNodes);
    sort.addEventListener("click", () => {
      turn = place === i ? (turn + 1) % 3 : 1;
      place = i;
      show();
    });
    head.append(sort);
  }
}
