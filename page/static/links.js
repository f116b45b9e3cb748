// Links to exchanges: filters of what a row of a table has, and the list of exchanges with a filter.
import {go} from "./store.js";
import {literal, plain} from "./text.js";
import {html} from "./vendor/preact.js";

export const show = filter => go({view: "exchanges", filter, chosen: null});
export const OTHERS = "all others";

// by the name of a table: the filter of a row's exchanges; null: there is none
const FILTERS = {
  client: name => name === "-" ? "client_id == null" : `client_id == ${literal(name)}`, topic: name => `contains(topics, ${literal(name)})`,
  api: name => `api == ${literal(name)}`, broker: name => /^\d+$/.test(name) ? `broker == \`${name}\`` : null,
};

export function Link({table, name}) {
  const filter = name === OTHERS ? null : FILTERS[table](name);
  return filter ? html`<button class="link" title="show its exchanges" onClick=${() => show(filter)}>${plain(name)}</button>` : plain(name);
}
