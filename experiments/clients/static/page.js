const [word, client] = document.querySelectorAll("select");
function filter() {
  for (const cell of document.querySelectorAll("[data-client]")) cell.hidden = Boolean(client.value) && cell.dataset.client !== client.value;
  for (const row of document.querySelectorAll("tbody tr")) {
    const shown = [...row.querySelectorAll("td:not([hidden])")];
    row.hidden = Boolean(word.value) && !shown.some(cell => cell.dataset.word === word.value);
  }
}
word.onchange = client.onchange = filter;
const open = () => { const found = document.getElementById(decodeURIComponent(location.hash.slice(1))); if (found) found.open = true; };
window.onhashchange = open;
open();
