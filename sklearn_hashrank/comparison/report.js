"use strict";
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const original = [...body.rows];
  const rows = original.filter((row) => !row.classList.contains("group"));
  if (rows.length < 2) continue;
  let place = -1, turn = 0;
  const value = (row) => {
    const cell = row.cells[place];
    if (!cell) return "";
    const text = cell.dataset.mean ?? cell.textContent, number = Number(text);
    return text.trim() === "" || Number.isNaN(number) ? text : number;
  };
  const ascending = (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (typeof x === "number" && typeof y === "number") return x - y;
    return String(x).localeCompare(String(y));
  };
  const isDash = (row) => value(row) === "\u2013" || value(row) === "";
  const show = () => {
    heads.forEach((head, i) => head.removeAttribute("aria-sort"));
    if (turn === 0) return body.replaceChildren(...original);
    const lowestFirst = (place === 0 || table.dataset.best === "lowest") === (turn === 1);
    const known = rows.filter((row) => !isDash(row)).sort(ascending);
    if (!lowestFirst) known.reverse();
    heads[place].setAttribute("aria-sort", lowestFirst ? "ascending" : "descending");
    body.replaceChildren(...known, ...rows.filter(isDash));
  };
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort by this column: best first, worst first, as it was";
    button.append(...head.childNodes);
    button.addEventListener("click", () => {
      turn = place === i ? (turn + 1) % 3 : 1;
      place = i;
      show();
    });
    head.append(button);
  });
}
