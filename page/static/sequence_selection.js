// Which exchanges the sequence shows: all, or those of one connection, client or group.
import * as api from "./api.js";
import {state} from "./store.js";
import {plain} from "./text.js";
import {html, useEffect, useState} from "./vendor/preact.js";

const ALL = {};
let remembered = null;  // what the reader selected, and the exchange that was chosen when the view closed

const encode = selection => JSON.stringify(Object.entries(selection)[0] ?? []);
const decode = text => Object.fromEntries([JSON.parse(text)].filter(each => each.length));

// The selection (null: not known yet), and the function that changes it. At first it is the connection of the chosen
// exchange, else of the newest one.
export function useSelection() {
  const [selection, setSelection] = useState(() => remembered?.chosen === state.chosen ? remembered.selection : null);
  useEffect(() => {
    if (selection) return;
    const number = state.chosen ?? state.source.end - 1, all = () => setSelection(ALL);
    if (number < 0) all();
    else api.rows([number]).then(([row]) => setSelection(row ? {connection: row.connection} : ALL), all);
  }, []);
  useEffect(() => () => { if (remembered) remembered.chosen = state.chosen; }, []);
  const select = selection => {
    remembered = {selection, chosen: state.chosen};
    setSelection(selection);
  };
  return [selection, select];
}

const titled = ({connection, client, broker}) => `${connection}: ${client} → ${broker || "unknown"}`;

export function Select({selection, choices, select}) {
  const {connections = [], clients = [], groups = [], left_out = 0} = choices ?? {};
  const option = (selection, title) => html`<option key=${encode(selection)} value=${encode(selection)}>${plain(title)}</option>`;
  const lists = [
    ["Connections", connections.map(each => [{connection: each.connection}, titled(each)])],
    ["Clients", clients.map(client => [{client}, client])],
    ["Groups", groups.map(group => [{group}, group])],
  ];
  const selected = encode(selection), [[kind, name] = []] = Object.entries(selection);
  const offered = !kind || lists.some(([, options]) => options.some(([each]) => encode(each) === selected));
  return html`<label>Show <select value=${selected} onChange=${event => select(decode(event.currentTarget.value))}
      title=${left_out ? `${left_out} older ones are not listed` : undefined}>
    ${option(ALL, "all")}${!offered && option(selection, `${kind} ${name}`)}
    ${lists.map(([label, options]) => options.length > 0 && html`<optgroup key=${label} label=${label}>${options.map(each => option(...each))}</optgroup>`)}
  </select></label>`;
}
