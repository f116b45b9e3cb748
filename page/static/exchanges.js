// The list of exchanges: numbers of all that match, and rows of those in sight only.
import * as api from "./api.js";
import {BookmarkMenu, bookmarks, toggle} from "./bookmarks.js";
import {began, ColumnMenu, css, line, resize, shown, template} from "./columns.js";
import {copy, copyJson} from "./copy.js";
import {Detail} from "./detail.js";
import {Filter} from "./filter.js";
import {Quick} from "./quick.js";
import {fold, folds, follow, listed, unfold} from "./retry_chains.js";
import {go, set, state} from "./store.js";
import {followed, order, pause} from "./stream.js";
import {pick, picked, TakeAway} from "./take_away.js";
import {count, plain} from "./text.js";
import {html, useEffect, useLayoutEffect, useRef} from "./vendor/preact.js";

const HEIGHT = 22, PAGE = 100, KEPT = 4000, SLOW_MS = 1000, AT_MOST_EVERY = 150;
const kinds = row => [picked.has(row.number) && "picked", bookmarks.has(row.number) && "starred", state.marked?.numbers.has(row.number) && "marked", row.error && (row.normal ? "expected" : "error"), row.rules.length && "ruled", row.latency_ms > SLOW_MS && "slow"].filter(Boolean).join(" ");

const rows = new Map(), waiting = new Set(), fallen = new Set();  // fallen: those that the history no longer has
// follow: null until it is known whether the list is live: such a one begins at its end
const view = {follow: null, top: 0, height: 600, width: 1000, asked: 0, gone: false, pointed: null, anchor: null};

async function fetchRows(wanted) {
  wanted.forEach(number => waiting.add(number));
  view.asked = performance.now();
  try {
    for (const row of await api.rows(wanted)) rows.set(row.number, row);
    for (const number of wanted) if (!rows.has(number)) fallen.add(number);
    for (const number of rows.keys()) if (rows.size > KEPT) rows.delete(number); else break;
  } catch (problem) {
    view.gone = !problem.status;  // who answers nothing has stopped, and would be asked again with each drawing
    set({problem: problem.message});
  } finally {
    wanted.forEach(number => waiting.delete(number));
  }
  set();
}

function lacking(wanted) {
  const missing = wanted.filter(number => !rows.has(number) && !waiting.has(number) && !fallen.has(number)).slice(0, PAGE);
  if (!missing.length || view.gone) return;
  // what rushes by needs no rows
  const wait = view.asked + AT_MOST_EVERY - performance.now();
  if (wait > 0) setTimeout(set, wait);
  else fetchRows(missing);
}

function choose(number, list) {
  go({chosen: number});
  reveal(number, list);
}

function reveal(number, list) {
  const top = listed().place(number) * HEIGHT;
  view.anchor = null;
  if (top < list.scrollTop) list.scrollTop = top;
  // below are the head, which is somewhat higher than a row, and the row itself
  if (top + 3 * HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + 3 * HEIGHT - list.clientHeight;
}

function step(by, list) {
  const matches = listed();
  if (!matches.length) return;
  const at = state.chosen === null ? -1 : matches.place(state.chosen);
  const to = state.chosen === null && by !== Infinity ? 0 : Math.min(matches.length - 1, Math.max(0, at + by));
  view.follow = false;
  choose(matches.at(to), list);
}

function toggleAttempts(number, open) {
  view.follow = false;
  unfold(number, open);
}

function markedHere() {
  const {matches} = followed;
  return [...state.marked?.numbers ?? []].filter(number => matches.has(number));
}

function nextMarked(list) {
  const shown = markedHere();
  const next = shown.find(number => number > (state.chosen ?? -1)) ?? shown[0];
  view.follow = false;
  if (next !== undefined) choose(next, list);
}

function keys(event, list) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
  if (event.target.matches("button, summary, a") && (event.key === "Enter" || event.key === " ")) return;
  const row = rows.get(state.chosen);
  const does = {
    j: () => step(1, list), ArrowDown: () => step(1, list), k: () => step(-1, list), ArrowUp: () => step(-1, list),
    PageDown: () => step(20, list), PageUp: () => step(-20, list),
    ArrowRight: () => toggleAttempts(state.chosen, true), ArrowLeft: () => toggleAttempts(state.chosen, false),
    Home: () => step(-Infinity, list), End: () => step(Infinity, list),
    Enter: () => state.chosen !== null && set({opened: true}),
    Escape: () => { set({opened: false}); list.focus(); },
    f: () => document.getElementById("filter").focus(),
    l: () => { view.follow = !view.follow; set(); },
    p: () => pause(!followed.paused), x: () => pick(state.chosen), b: () => state.chosen !== null && toggle(state.chosen),
    m: () => state.chosen !== null && set({likeThis: state.chosen}),
    n: () => nextMarked(list),
    y: () => row && copy(plain(line(row))), Y: () => row && copyJson(row.number),
  }[event.key];
  if (!does || state.likeThis !== null || (event.key === "Escape" && state.help)) return;
  event.preventDefault();
  does();
}

function scrolled({scrollTop, scrollHeight, clientHeight}) {
  if (scrollTop < view.top && scrollHeight - clientHeight - scrollTop > 2 * HEIGHT) view.follow = false;
  view.top = scrollTop;
  set();
}

// the cell below the mouse, if a click there can filter
function point({target}, columns) {
  const name = target.closest("[data-column]")?.dataset.column, number = Number(target.closest(".row")?.id.slice(1));
  if (target.closest(".quick") || view.pointed?.name === name && view.pointed?.number === number) return;
  const row = rows.get(number), only = row && columns.find(each => each.name === name)?.only?.(row);
  if (!only && !view.pointed) return;
  view.pointed = only ? {name, number, only} : null;
  set();
}

const sortOf = column => column && followed.order?.column === column ? followed.order.descending ? "descending" : "ascending" : undefined;

// how often the request was sent; a click shows the earlier attempts
const Attempts = ({head, chain: {attempts, open}}) => html`<button class="attempts" aria-expanded=${String(open)} aria-label=${`×${attempts.length + 1}: earlier attempts`}
  title=${open ? "fold the earlier attempts (←)" : "show the earlier attempts (→)"} onClick=${event => { event.stopPropagation(); toggleAttempts(head, !open); }}>${open ? "▾" : "▸"}×${count(attempts.length + 1)}</button> `;

function List({list}) {
  const matches = listed();
  // those at the end stand there before the list has scrolled to them
  const top = view.follow ? (matches.length + 1) * HEIGHT - view.height : view.top;
  const from = Math.max(0, Math.floor(top / HEIGHT) - 5);
  const to = Math.min(matches.length, from + Math.ceil(view.height / HEIGHT) + 10);
  const columns = shown(view.width), numbers = [];
  for (let place = from; place < to; place++) numbers.push(matches.at(place));
  useEffect(() => lacking(numbers));
  const known = numbers.map(number => rows.get(number)).filter(Boolean), begins = known.map(began);
  const frame = [Math.min(...begins), Math.max(...known.map((row, at) => begins[at] + (row.latency_ms ?? 0)))];
  return html`<div class="list" ref=${list} tabindex="0" role="grid" aria-rowcount=${matches.length}
      aria-label="Exchanges: j and k move, Enter opens" style=${{"--columns": template(columns)}} onMouseOver=${event => point(event, columns)} onMouseLeave=${() => { view.pointed = null; set(); }}
      aria-activedescendant=${numbers.includes(state.chosen) ? `x${state.chosen}` : undefined}
      onScroll=${event => { scrolled(event.currentTarget); }}>
    <div class="row head" role="row">${columns.map(({name, about, column}) => html`<span key=${name} role="columnheader" class=${css(name)} title=${about} aria-sort=${sortOf(column)}>
      ${column ? html`<button title=${`${about}; sort`} onClick=${() => order(column)}>${name}</button>` : name}
      <i class="grip" onPointerDown=${event => resize(event, name)}></i></span>`)}</div>
    <div class="rows" role="rowgroup" style=${{height: `${matches.length * HEIGHT}px`}}>${numbers.map((number, place) => {
      const row = rows.get(number), chain = matches.heads.get(number);
      return html`<div key=${number} id=${`x${number}`} role="row" aria-rowindex=${from + place + 1} aria-selected=${String(number === state.chosen)}
        class=${`row ${row ? kinds(row) : ""} ${matches.headOf.has(number) ? "earlier" : ""}`} style=${{top: `${(from + place) * HEIGHT}px`}}
        onClick=${event => { view.follow = false; go({chosen: number}); event.ctrlKey || event.metaKey ? pick(number) : set({opened: true}); }}>
        ${columns.map(({name, text, cell}) => {
          const shown = row ? plain(text(row)) : "";
          return html`<span key=${name} role="gridcell" class=${css(name)} data-column=${name} title=${shown || undefined}>${name === "api" && chain && html`<${Attempts} head=${number} chain=${chain}/>`}${row && cell ? cell(row, frame) : shown}${
            view.pointed?.number === number && view.pointed.name === name && html`<${Quick} only=${view.pointed.only}/>`}</span>`;
        })}</div>`;
    })}</div>
  </div>`;
}

// why the list has no row
function Nothing() {
  const {first, end, kind, over} = state.source;
  if (followed.matches.length || !kind || followed.after < 0 && end > first) return "";
  if (end > first) return html`<p class="none" role="status">No exchange matches the filter. <button onClick=${() => go({filter: "", chosen: null})}>Show all</button></p>`;
  return html`<p class="none" role="status">${kind === "live" ? "No exchange has passed the proxy yet. Network says where clients connect." : over ? "The capture has no exchange." : "No exchange yet."}</p>`;
}

export function Exchanges() {
  const list = useRef();
  // an exchange that the address names may come later than the first ones
  const isListed = state.chosen !== null && followed.matches.has(state.chosen);
  useLayoutEffect(() => { if (isListed && !view.follow) reveal(state.chosen, list.current); }, [state.chosen, isListed]);
  view.follow ??= state.source.kind ? state.source.kind === "live" && state.chosen === null : null;
  useEffect(() => {
    const pressed = event => keys(event, list.current);
    const resized = new ResizeObserver(() => {
      view.height = list.current.clientHeight;
      view.width = list.current.clientWidth;
      set();
    });
    document.addEventListener("keydown", pressed);
    resized.observe(list.current);
    if (state.chosen !== null) set({opened: true});
    return () => {
      document.removeEventListener("keydown", pressed);
      resized.disconnect();
    };
  }, []);
  useLayoutEffect(() => {
    // back from another view: where it was, as far as there are still so many
    list.current.scrollTop = view.top;
    view.top = list.current.scrollTop;
  }, []);
  useLayoutEffect(() => {
    const {matches} = followed, shown = listed(), {anchor} = view;
    if (view.follow) list.current.scrollTop = list.current.scrollHeight;
    // what fell out above, or was folded: what is in sight stays there
    else if (anchor?.matches === matches && list.current.scrollTop) list.current.scrollTop += (shown.row(anchor.number) - anchor.row) * HEIGHT;
    const number = shown.at(Math.floor(list.current.scrollTop / HEIGHT));
    view.anchor = number === undefined ? null : {matches, number, row: shown.row(number)};
  });
  useEffect(() => { follow(); }, [followed.after, folds()]);
  const pressed = (on, what, label, title) => html`<button aria-pressed=${String(on)} title=${title} onClick=${what}>${label}</button>`;
  return html`<div class="bar"><${Filter}/>
      ${pressed(view.follow, () => { view.follow = !view.follow; set(); }, "Follow the newest", "stay at the last one (l); scrolling up ends it")}
      ${pressed(followed.paused, () => pause(!followed.paused), "Freeze the list", "take no new ones; traffic goes on (p)")}
      ${pressed(folds(), () => fold(!folds()), "Fold retries", "one row for a request that a client sent again, with all its attempts; not in a sorted list")}
      <${BookmarkMenu}/><${ColumnMenu} width=${view.width}/><${TakeAway}/></div>
    ${state.marked && html`<div class="bar marked"><span role="status">${plain(state.marked.rule)} would have fired on what is marked: ${count(state.marked.numbers.size)}, ${
      count(markedHere().length)} of them in this list</span>
      <button title="key n" onClick=${() => nextMarked(list.current)}>Next</button><button onClick=${() => set({marked: null})}>Clear</button></div>`}
    <${Nothing}/><div class="split"><${List} list=${list}/>
      ${state.opened && state.chosen !== null && html`<aside aria-label="Detail" tabindex="0"><${Detail} number=${state.chosen} key=${state.chosen}/></aside>`}</div>`;
}
