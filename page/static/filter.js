// The filter, a JMESPath expression: it completes columns, and fields of requests and responses.
import * as api from "./api.js";
import {go, set, state} from "./store.js";
import {followed} from "./stream.js";
import {count, literal, plain} from "./text.js";
import {html, useEffect, useRef} from "./vendor/preact.js";

const SHOWN = 12, PAUSE = 300;
let names = null, typed = 0, waiting = 0, asked = 0;
const box = {open: false, at: -1, found: []};

const word = input => input.value.slice(0, input.selectionStart).match(/[\w.[\]]*$/)[0];

// what is compared with a column, up to the cursor: the values that the exchanges have
const compared = input => input.value.slice(0, input.selectionStart).match(/(\w+) *[!=]= *(['`]?)([^'`]*)$/);

async function suggestValues([, column, , begun]) {
  const mine = ++asked, values = await api.values(column).catch(() => []);  // a column without values is refused
  if (mine !== asked) return;
  const fits = values.map(String).filter(value => value.toLowerCase().startsWith(begun.toLowerCase()));
  Object.assign(box, {found: fits.slice(0, SHOWN).map(value => ({name: literal(typeof values[0] === "number" ? Number(value) : value), about: ""})), at: -1, open: fits.length > 0});
  set();
}

async function suggest(input) {
  const comparison = compared(input);
  clearTimeout(waiting);
  if (comparison) {
    waiting = setTimeout(() => suggestValues(comparison), PAUSE);
    return;
  }
  asked++;
  names ??= await api.columns();
  const begun = word(input);
  const found = begun ? names.filter(each => each.name.startsWith(begun) && each.name !== begun) : [];
  Object.assign(box, {found: found.slice(0, SHOWN), at: -1, open: found.length > 0});
  set();
}

function take(input, name) {
  const comparison = compared(input), end = input.selectionStart;
  const start = end - (comparison ? comparison[2].length + comparison[3].length : word(input).length);
  input.setRangeText(name, start, end, "end");
  box.open = false;
  input.focus();
  change(input, 0);
}

function change(input, pause = PAUSE) {
  clearTimeout(typed);
  typed = setTimeout(() => {
    if (input.value === state.filter) return;
    go({filter: input.value, chosen: null, problem: ""});
  }, pause);
  suggest(input).catch(problem => set({problem: problem.message}));
}

function key(event) {
  const input = event.currentTarget, {open, found, at} = box;
  if (event.key === "Escape") {
    event.preventDefault();  // which would clear it
    if (open) box.open = false;
    else document.querySelector(".list")?.focus();
  } else if (open && event.key === "ArrowDown") box.at = (at + 1) % found.length;
  else if (open && event.key === "ArrowUp") box.at = (at + found.length) % (found.length + 1) - (at === 0 ? found.length + 1 : 0);
  else if (open && (event.key === "Enter" || event.key === "Tab") && at >= 0) take(input, found[at].name);
  else if (event.key === "Enter") change(input, 0);
  else return;
  if (event.key !== "Tab") event.preventDefault();
  box.at = Math.max(-1, box.at);
  set();
}

export function Filter() {
  const input = useRef();
  useEffect(() => { if (input.current !== document.activeElement) input.current.value = state.filter; }, [state.filter]);
  const {open, found, at} = box, {matches, skipped} = followed, {first, end} = state.source;
  return html`<div class="filter">
    <input id="filter" ref=${input} type="text" role="combobox" aria-label="Filter: text, or a condition in JMESPath" spellcheck=${false}
      autocomplete="off" placeholder="text, or a condition: api == 'Produce' && latency_ms > 100" defaultValue=${state.filter}
      aria-expanded=${String(open)} aria-controls="names" aria-autocomplete="list"
      aria-activedescendant=${open && at >= 0 ? `name-${at}` : undefined}
      onInput=${event => change(event.currentTarget)} onKeyDown=${key}
      onBlur=${() => { box.open = false; set(); }}/>
    <ul id="names" role="listbox" aria-label="Columns and fields" hidden=${!open}>${open && found.map((each, place) => html`
      <li id=${`name-${place}`} role="option" aria-selected=${String(place === at)}
        onMouseDown=${event => { event.preventDefault(); take(input.current, each.name); }}>
        <b>${each.name}</b> ${each.about}</li>`)}</ul>
    ${state.refused && html`<output for="filter" class="refused" title=${state.refused}>${plain(state.refused)}</output>`}
    ${!state.refused && html`<output for="filter">${count(matches.length)} of ${count(end - first)}${skipped ? `, ${count(skipped)} skipped: too many at a time` : ""}</output>`}
  </div>`;
}
