// Two buttons over a cell: only exchanges like this one, or all others.
import {go, state} from "./store.js";
import {html} from "./vendor/preact.js";

// A condition takes the place of plain text.
const joined = condition => new RegExp(state.source.plain).test(state.filter) ? condition : state.filter.includes("|") ? `(${state.filter}) && ${condition}` : `${state.filter} && ${condition}`;

export function Quick({only}) {
  const labels = ["Only these", "All others"];
  return html`<span class="quick">${only.map((condition, at) => condition && html`<button aria-label=${`${labels[at]}: ${condition}`} title=${`${labels[at]}: ${condition}`}
    onClick=${event => { event.stopPropagation(); go({filter: joined(condition), chosen: null, opened: false}); }}>${"+−"[at]}</button>`)}</span>`;
}
