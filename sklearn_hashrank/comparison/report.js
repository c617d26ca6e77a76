import { makeSortable } from "../pages/sortable.js";

for (const table of document.querySelectorAll("table")) makeSortable(table);
