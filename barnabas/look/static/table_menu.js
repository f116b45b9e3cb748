// Tables of a report: a heading sorts the rows, and a menu hides columns. The markup is that of `.table`.
export function sort(heading) {
  const body = heading.closest("table").tBodies[0], column = heading.cellIndex;
  const descending = heading.getAttribute("aria-sort") !== "descending";
  for (const other of heading.parentElement.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const key = row => row.cells[column].dataset.key ?? row.cells[column].textContent;
  const order = (a, b) => key(a) - key(b) || key(a).localeCompare(key(b));
  body.append(...[...body.rows].sort((a, b) => descending ? order(b, a) : order(a, b)));
}

function columnChoice(table, heading) {
  const label = document.createElement("label"), box = document.createElement("input");
  box.type = "checkbox";
  box.checked = true;
  box.addEventListener("change", () => {
    for (const row of table.rows) row.cells[heading.cellIndex].hidden = !box.checked;
  });
  label.append(box, heading.textContent);
  return label;
}

// a button above the table, which opens a list of its columns
function menuOf(table) {
  const menu = document.createElement("details"), summary = document.createElement("summary"), list = document.createElement("div");
  menu.className = "columns";
  summary.textContent = "Columns";
  list.append(...[...table.tHead.rows[0].cells].map(heading => columnChoice(table, heading)));
  menu.append(summary, list);
  menu.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    menu.open = false;
    summary.focus();
  });
  document.addEventListener("click", event => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  return menu;
}

// least: tables with fewer columns have no menu
export function tableMenus(least = 4) {
  for (const box of document.querySelectorAll(".table")) {
    const table = box.querySelector("table");
    for (const heading of table.querySelectorAll("th:has(button)")) heading.addEventListener("click", () => sort(heading));
    if (table.tHead?.rows[0].cells.length >= least) box.before(menuOf(table));
  }
}
