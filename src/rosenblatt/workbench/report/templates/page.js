// The page says everything without this: here columns become sortable, and folds open for printing.
"use strict";

function sortBy(heading, table) {
  const column = [...heading.parentNode.children].indexOf(heading);
  const text = heading.dataset.sort === "text";
  const down = heading.getAttribute("aria-sort") === "ascending";
  const keyOf = (row) => row.children[column].dataset.key;
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => {
    const [p, q] = [keyOf(a), keyOf(b)];
    if (p === undefined || q === undefined) return (p === undefined) - (q === undefined); // unknown ones last
    const order = text ? p.localeCompare(q) : p - q;
    return down ? -order : order;
  });
  for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll("table.board")) {
  for (const heading of table.querySelectorAll("th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sortBy(heading, table));
  }
  table.classList.add("sortable");
  table.querySelector("th[data-sort]")?.setAttribute("aria-sort", "ascending");
}

let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const fold of opened) fold.open = true;
});
addEventListener("afterprint", () => {
  for (const fold of opened) fold.open = false;
});

window.rosenblatt = { sortBy };
