const [word, client] = document.querySelectorAll("select");
const all = (selector, where = document) => [...where.querySelectorAll(selector)];
let cell = "";
function filter() {
  const other = one => Boolean(client.value) && one.dataset.client !== client.value;
  const fits = one => !other(one) && (!word.value || one.dataset.word.split("|").includes(word.value));
  for (const one of all("th[data-client], td[data-client]")) one.hidden = other(one);
  for (const row of all("tbody tr")) row.hidden = !all("td[data-word]", row).some(fits);
  for (const one of all("details[data-word]")) one.hidden = !fits(one);
  for (const section of all("section")) section.hidden = all("tbody tr:not([hidden]), details[data-word]:not([hidden])", section).length === 0;
  document.getElementById("none").hidden = all("section:not([hidden])").length > 0;
}
function open() {
  const found = cell && document.getElementById(cell);
  if (!found) return;
  found.open = true;
  found.scrollIntoView();
}
function read() {
  const hash = location.hash.slice(1);
  if (hash.startsWith("?")) {
    const said = new URLSearchParams(hash);
    word.value = said.get("word") ?? "";
    client.value = said.get("client") ?? "";
    if (word.selectedIndex < 0) word.value = "";
    if (client.selectedIndex < 0) client.value = "";
    cell = said.get("cell") ?? "";
  } else {
    try { cell = decodeURIComponent(hash); } catch { cell = ""; }
  }
  filter();
  open();
  write();
}
function write() {
  const said = Object.entries({ word: word.value, client: client.value, cell }).filter(([, value]) => value);
  if (said.length) history.replaceState(null, "", `#?${new URLSearchParams(said)}`);
  else if (location.hash) history.replaceState(null, "", location.pathname + location.search);
}
word.onchange = client.onchange = () => { cell = ""; filter(); write(); };
window.onhashchange = read;
read();
