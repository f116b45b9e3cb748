// Which key does what.
import {html} from "./vendor/preact.js";

const KEYS = [
  ["1 … 9", "another view"], ["j  k  ↓  ↑", "the next exchange, the one before"], ["Page ↓  Page ↑", "20 further, 20 back"],
  ["→  ←", "show the earlier attempts of a retried request, fold them"], ["Home  End", "the first one, the last one"], ["Enter", "open the exchange"], ["Escape", "close what was opened"],
  ["f", "filter"], ["x", "pick it, to take it away with others"], ["b", "bookmark it"], ["m", "a rule about messages like this"], ["n", "the next one that is marked"], ["l", "follow the newest"], ["p", "freeze the list; traffic goes on"],
  ["+  -  0", "in the sequence: zoom in, out, show all"], ["z  t  s", "in the sequence: show the selected exchange, a table, by step"], ["y  Y", "copy the exchange as a line, as JSON"], ["?", "these keys"],
];

export const Help = () => html`<section class="keys" role="dialog" aria-label="Keys">
  <dl>${KEYS.map(([key, does]) => html`<dt>${key}</dt><dd>${does}</dd>`)}</dl></section>`;
