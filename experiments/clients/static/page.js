// Filters the tables, and shows one cell in their place; the address has what is shown.
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const [word, client] = all(".tools select");
const pages = all(".cell"), overview = document.querySelector(".overview"), back = document.querySelector(".back"), title = document.title;
let cell = "";
const clientOf = one => one.closest("table").tHead.rows[0].cells[one.cellIndex].textContent;
function filter() {
  const other = one => Boolean(client.value) && clientOf(one) !== client.value;
  const fits = one => !other(one) && (!word.value || one.dataset.word.split("|").includes(word.value));
  for (const one of all(".cells tr > :not(:first-child)")) one.hidden = other(one);
  for (const row of all("tbody tr")) row.hidden = !all("td[data-word]", row).some(fits);
  for (const section of all(".overview section")) section.hidden = all("tbody tr:not([hidden])", section).length === 0;
  const cells = all("td[data-word]"), matching = cells.filter(fits).length;
  document.querySelector(".tools output").textContent = word.value || client.value ? `${matching} of ${cells.length} cells` : "";
  document.getElementById("none").hidden = matching > 0;
}
function show() {
  const chosen = pages.find(page => page.id === cell);
  if (!chosen) cell = "";
  for (const page of pages) page.hidden = page !== chosen;
  overview.hidden = Boolean(chosen);
  back.parentElement.hidden = !chosen;
  document.title = chosen ? `${cell}, ${title}` : title;
  if (!chosen) return;
  scrollTo(0, 0);
  chosen.tabIndex = -1;
  chosen.focus({preventScroll: true});
}
const address = parts => `#?${new URLSearchParams(Object.entries(parts).filter(([, value]) => value))}`;
function read() {
  const hash = location.hash.slice(1);
  if (hash.startsWith("?")) {
    const parts = new URLSearchParams(hash);
    word.value = parts.get("word") ?? "";
    client.value = parts.get("client") ?? "";
    if (word.selectedIndex < 0) word.value = "";
    if (client.selectedIndex < 0) client.value = "";
    cell = parts.get("cell") ?? "";
  } else {
    try { cell = decodeURIComponent(hash); } catch { cell = ""; }
  }
  filter();
  show();
  write();
}
function write() {
  const filters = {word: word.value, client: client.value};
  back.href = address(filters);
  const wanted = address({...filters, cell});
  if (wanted !== "#?") history.replaceState(null, "", wanted);
  else if (location.hash) history.replaceState(null, "", location.pathname + location.search);
}
word.onchange = client.onchange = () => { filter(); write(); };
window.onhashchange = read;
read();
