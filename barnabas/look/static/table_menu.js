// Tables of a report: a heading sorts the rows, and a menu hides columns. Without scripts a table has neither.
function sort(heading) {
  const body = heading.closest("table").tBodies[0], column = heading.cellIndex;
  const sorted = heading.getAttribute("aria-sort");
  // at first numbers begin with the greatest, names with the first
  const descending = sorted ? sorted === "ascending" : heading.matches(".number");
  for (const other of heading.parentElement.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const key = row => row.cells[column].dataset.key ?? row.cells[column].textContent;
  const order = (a, b) => key(a) - key(b) || key(a).localeCompare(key(b), "en", {numeric: true});
  body.append(...[...body.rows].sort((a, b) => descending ? order(b, a) : order(a, b)));
}

function makeSortable(heading) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...heading.childNodes);
  heading.append(button);
  heading.addEventListener("click", () => sort(heading));
}

function columnChoice(table, heading) {
  const label = document.createElement("label"), box = document.createElement("input");
  box.type = "checkbox";
  box.checked = true;
  box.addEventListener("change", () => {
    // not `hidden`, by which pages filter cells
    for (const row of table.rows) row.cells[heading.cellIndex].classList.toggle("removed", !box.checked);
  });
  label.append(box, heading.textContent);
  return label;
}

// a button above the table, which opens a list of its columns
function menuOf(table, headings) {
  const menu = document.createElement("details"), summary = document.createElement("summary"), list = document.createElement("div");
  menu.className = "columns";
  summary.textContent = "Columns";
  list.append(...headings.map(heading => columnChoice(table, heading)));
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

const LEAST = 4; // tables with fewer columns have no menu
for (const box of document.querySelectorAll(".table")) {
  const table = box.querySelector("table"), headings = [...table.tHead.rows[0].cells];
  headings.forEach(makeSortable);
  // the names of rows stay
  const choices = headings.filter(heading => table.tBodies[0].rows[0]?.cells[heading.cellIndex].tagName !== "TH");
  if (headings.length >= LEAST) box.before(menuOf(table, choices));
}
