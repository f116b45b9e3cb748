// A table of rows: columns are [name, what stands there, class].
import {count, plain, plural} from "./text.js";
import {html} from "./vendor/preact.js";

export const Table = ({label, columns, rows, none}) => rows.length ? html`<div class="table" tabindex="0" role="region" aria-label=${label}>
  <table><thead><tr>${columns.map(([name, , kind]) => html`<th scope="col" class=${kind}>${name}</th>`)}</tr></thead>
  <tbody>${rows.map((row, at) => html`<tr key=${row.key ?? at} class=${row.kind ?? ""}>${columns.map(([name, of, kind]) => {
    const shown = of(row);
    return html`<td class=${kind} data-label=${name}>${typeof shown === "object" && shown !== null ? shown : plain(shown ?? "")}</td>`;
  })}</tr>`)}</tbody></table></div>` : html`<p class="none">${none}</p>`;

// what stands above a view: that it loads, what is wrong, what it lacks
export const problems = (found, problem) => [
  !found && !problem && html`<p class="none loading" role="status">Loading …</p>`,
  found?.waiting > 0 && html`<p class="none loading" role="status">${count(found.fed)} exchanges so far, ${count(found.waiting)} to come</p>`,
  problem && html`<p class="problem" role="alert">${plain(problem)}</p>`,
  found?.missing_workers?.length > 0 && html`<p class="problem" role="status">Without an answer: ${found.missing_workers.map(each => `worker ${each}`).join(", ")}. Counts are from the last answer; rules take effect there when it continues.</p>`,
  found?.missed > 0 && html`<p class="none">${plural(found.missed, "exchange")} were dropped before this view got them: they are not counted here.</p>`,
  found?.forgotten > 0 && html`<p class="none">${plural(found.forgotten, "older one")} dropped to make room for newer ones.</p>`,
];
