// Exchanges as a file: those that are picked, or else all that match the filter.
import * as api from "./api.js";
import {save} from "./copy.js";
import {Menu} from "./menu.js";
import {set, state} from "./store.js";
import {followed} from "./stream.js";
import {count, plain} from "./text.js";
import {html, useState} from "./vendor/preact.js";

const FORMS = [
  ["pcapng", "Packets", "a pcapng file, which Wireshark reads too"],
  ["jsonl", "JSON Lines", "the lines of barnabas decode --json"],
  ["scenario", "Scenario", "what rules did to them, to be done again"],
  ["pytest", "Test", "for pytest: repeats the requests and compares the responses"],
];

export const picked = new Set();

export function pick(number) {
  if (number === null) return;
  if (!picked.delete(number)) picked.add(number);
  set();
}

function unpick() {
  picked.clear();
  set();
}

async function take(form, put) {
  put("…");
  const which = picked.size ? {numbers: [...picked]} : state.filter ? {filter: state.filter} : {};
  try {
    const {name, said, data} = await api.take({form, ...which});
    save(name, data);
    put(`${name}: ${said}`);
  } catch (problem) {
    put(problem.message);
  }
}

export function TakeAway() {
  const [said, put] = useState("");
  const many = picked.size || followed.matches.length;
  const of = `${count(many)} ${picked.size ? "picked" : state.filter ? "that match" : "in all"}`;
  return html`<${Menu} kind="take" label=${`Take away${picked.size ? ` ${count(picked.size)}` : ""}`} name=${`Take away: ${of}`} title="as a file: pick some with x, or take all that match">
      <p>${of}${picked.size > 0 && html` <button onClick=${unpick}>unpick</button>`}</p>
      ${FORMS.map(([form, title, about]) => html`
        <button key=${form} disabled=${!many} aria-describedby=${`take-${form}`} onClick=${() => take(form, put)}>${title}</button>
        <small id=${`take-${form}`}>${about}</small>`)}
      <output>${plain(said)}</output><//>`;
}
