// Two buttons over a cell: only exchanges like this one, or all others.
import {go, state} from "./store.js";
import {html} from "./vendor/preact.js";

// plain text is no condition: what is added takes its place
const conditional = text => /[=<>!&|()[\]{}'"`*?@]/.test(text) || text === "error";
const joined = condition => !conditional(state.filter) || !conditional(condition) ? condition : state.filter.includes("|") ? `(${state.filter}) && ${condition}` : `${state.filter} && ${condition}`;

export function Quick({only}) {
  const labels = ["Only these", "All others"];
  return html`<span class="quick">${only.map((condition, at) => condition && html`<button aria-label=${`${labels[at]}: ${condition}`} title=${`${labels[at]}: ${condition}`}
    onClick=${event => { event.stopPropagation(); go({filter: joined(condition), chosen: null, opened: false}); }}>${"+−"[at]}</button>`)}</span>`;
}
