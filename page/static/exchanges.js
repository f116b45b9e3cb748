// The list of exchanges: numbers of all that match, and rows only of those in sight.
import * as api from "./api.js";
import {detail} from "./detail.js";
import {h, plain} from "./dom.js";

const HEIGHT = 22, PAGE = 100, KEPT = 4000;
const ms = value => value === null ? "" : value < 10 ? value.toFixed(2) : value.toFixed(0);
const COLUMNS = [
  ["time", row => row.ts.slice(11, 23)],
  ["client", row => row.client_id ?? row.client_address],
  ["conn", row => row.connection],
  ["broker", row => row.broker ?? ""],
  ["api", row => `${row.api} v${row.version}`],
  ["target", row => row.details],
  ["size", row => `${row.request_size} → ${row.response_size ?? "–"}`],
  ["ms", row => ms(row.latency_ms)],
  ["broker ms", row => ms(row.broker_ms)],
  ["outcome", row => [row.error, row.note, ...row.rules.map(rule => "⟵ " + rule)].filter(Boolean).join(" ")],
];
const css = name => name.replace(" ", "-");

export function exchanges(main) {
  const state = new URLSearchParams(location.hash.slice(1));
  let matches = [], after = -1, chosen = state.has("at") ? Number(state.get("at")) : null;
  let asked = 0, follow = false, timer = 0, last = {};
  const rows = new Map(), waiting = new Set();
  const filter = h("input", {type: "search", id: "filter", spellcheck: false, value: state.get("filter") ?? "",
    placeholder: "filter: api == 'Produce' && latency_ms > `100`"});
  filter.setAttribute("aria-label", "Filter, in JMESPath");
  filter.setAttribute("list", "columns");
  const known = h("datalist", {id: "columns"});
  const count = h("output"), problem = h("p", {className: "problem", hidden: true});
  problem.setAttribute("role", "alert");
  const followed = h("button", {textContent: "Follow"});
  const body = h("div", {className: "rows"}), list = h("div", {className: "list", tabIndex: 0});
  list.setAttribute("role", "region");
  list.setAttribute("aria-label", "Exchanges: j and k move, Enter opens, f filters, y copies, Escape closes");
  const aside = h("aside", {hidden: true});
  aside.setAttribute("aria-label", "Detail");
  const head = h("div", {className: "row head"}, ...COLUMNS.map(([name]) => h("span", {className: css(name)}, name)));
  list.append(head, body);
  main.append(h("div", {className: "bar"}, filter, known, count, followed), problem,
    h("div", {className: "split"}, list, aside));
  api.columns().then(all => known.append(...all.map(each => h("option", {value: each.name, label: each.about}))))
    .catch(() => {});

  function address() {
    const now = new URLSearchParams();
    if (filter.value) now.set("filter", filter.value);
    if (chosen !== null) now.set("at", chosen);
    history.replaceState(null, "", "#" + now);
  }

  async function more(mine) {
    clearTimeout(timer);
    if (document.hidden) return;
    try {
      const found = await api.numbers(after, filter.value);
      if (mine !== asked) return;
      problem.hidden = true;
      last = found;
      after = found.after;
      for (const number of found.numbers) matches.push(number);
      if (matches[0] < found.first) matches = matches.filter(number => number >= found.first);
      count.textContent = `${matches.length.toLocaleString("en")} of ${(found.end - found.first).toLocaleString("en")}`;
      document.getElementById("state").textContent = [found.trouble, found.first ? `${found.first} fell out` : "",
        found.over ? "" : "reading …"].filter(Boolean).join(" · ");
      if (follow) list.scrollTop = list.scrollHeight;
      draw();
      if (after + 1 < found.end) more(mine);
      else if (!found.over) timer = setTimeout(more, 500, mine);
    } catch (refused) {
      if (mine !== asked) return;
      problem.textContent = plain(refused.message);
      problem.hidden = false;
    }
  }

  function again() {
    matches = [];
    after = -1;
    list.scrollTop = 0;
    address();
    draw();
    more(++asked);
  }

  function draw() {
    body.style.height = matches.length * HEIGHT + "px";
    const from = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 5);
    const to = Math.min(matches.length, from + Math.ceil(list.clientHeight / HEIGHT) + 10);
    const lacking = [];
    body.replaceChildren(...matches.slice(from, to).map((number, place) => {
      const row = rows.get(number), line = h("div", {className: "row"});
      line.style.top = (from + place) * HEIGHT + "px";
      line.onclick = () => choose(number, true);
      if (number === chosen) line.classList.add("chosen");
      if (!row) {
        if (!waiting.has(number)) lacking.push(number);
        return line;
      }
      if (row.error) line.classList.add("error");
      if (row.rules.length) line.classList.add("ruled");
      if (row.latency_ms > 1000) line.classList.add("slow");
      line.append(...COLUMNS.map(([name, text]) => {
        const shown = plain(text(row));
        return h("span", {className: css(name), title: shown}, shown);
      }));
      return line;
    }));
    if (lacking.length) fetchRows(lacking.slice(0, PAGE));
  }

  async function fetchRows(wanted) {
    wanted.forEach(number => waiting.add(number));
    try {
      for (const row of await api.rows(wanted)) rows.set(row.number, row);
      for (const number of rows.keys()) if (rows.size > KEPT) rows.delete(number); else break;
      requestAnimationFrame(draw);
    } finally {
      wanted.forEach(number => waiting.delete(number));
    }
  }

  function choose(number, open) {
    chosen = number;
    address();
    const top = matches.indexOf(number) * HEIGHT;
    if (top < list.scrollTop) list.scrollTop = top;
    if (top + 2 * HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + 2 * HEIGHT - list.clientHeight;
    draw();
    if (open || !aside.hidden) show(number);
  }

  async function show(number) {
    aside.hidden = false;
    const made = await api.exchange(number).then(detail, refused => h("p", {}, plain(refused.message)));
    if (number === chosen) aside.replaceChildren(made);
  }

  function close() {
    aside.hidden = true;
    list.focus();
  }

  const step = by => {
    const at = matches.indexOf(chosen);
    const to = at < 0 ? 0 : Math.min(matches.length - 1, Math.max(0, at + by));
    if (matches.length) choose(matches[to], false);
  };
  const keys = {
    j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
    PageDown: () => step(20), PageUp: () => step(-20),
    Enter: () => chosen !== null && show(chosen), Escape: close,
    f: () => filter.focus(),
    y: () => rows.has(chosen) && navigator.clipboard.writeText(JSON.stringify(rows.get(chosen))),
  };
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === filter) {
      if (event.key === "Escape") {
        event.preventDefault();  // which would clear it
        list.focus();
      }
      return;
    }
    if (event.target.matches("button, summary") && event.key === "Enter") return;
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  followed.setAttribute("aria-pressed", "false");
  followed.onclick = () => {
    follow = !follow;
    followed.setAttribute("aria-pressed", follow);
    if (follow) list.scrollTop = list.scrollHeight;
  };
  list.addEventListener("scroll", () => requestAnimationFrame(draw));
  new ResizeObserver(draw).observe(list);
  document.addEventListener("visibilitychange", () => document.hidden || last.over && after + 1 >= last.end || more(asked));
  let typed = 0;
  filter.oninput = () => { clearTimeout(typed); typed = setTimeout(again, 250); };
  again();
  if (chosen !== null) show(chosen);
}
