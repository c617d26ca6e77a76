import { makeSortable } from "../explore/sortable.js";

for (const table of document.querySelectorAll("table")) makeSortable(table);
