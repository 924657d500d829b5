"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numbers = body.rows.length > 0 && body.rows[0].cells[at].dataset.v !== undefined;
      const sorted = head.getAttribute("aria-sort");
      const up = sorted === null ? !numbers : sorted === "descending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => (numbers ? Number(row.cells[at].dataset.v) : row.cells[at].textContent.trim());
      const order = (a, b) => (numbers ? a - b : a.localeCompare(b));
      const rows = Array.from(body.rows).map((row) => [key(row), row]);
      rows.sort((a, b) => (up ? order(a[0], b[0]) : order(b[0], a[0])));
      body.append(...rows.map((pair) => pair[1]));
    });
  });
}
const open = () => {
  let place = location.hash && document.getElementById(location.hash.slice(1));
  for (; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
};
addEventListener("hashchange", open);
open();
