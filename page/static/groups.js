// Groups: a lane a member over time, bands for generations and epochs, who was late, what moved, lag.
import {LagPlot} from "./lag.js";
import {drawn, spanOf} from "./lanes.js";
import {usePolled} from "./polled.js";
import {go} from "./store.js";
import {problems, Table} from "./table.js";
import {clock, ms, plain} from "./text.js";
import {h, html, useState} from "./vendor/preact.js";

const WINDOWS = [["all", Infinity], ["5 min", 300e3], ["1 min", 60e3], ["10 s", 10e3]];

export function Groups() {
  const [group, choose] = useState("");
  const [span, widen] = useState(Infinity);
  const [response, problem] = usePolled("/groups?" + new URLSearchParams(group ? {group} : {}));
  if (!response) return html`<div class="view">${problems(response, problem)}</div>`;
  if (!group && response.group) choose(response.group);
  const names = Object.fromEntries(response.lanes.map(lane => [lane.member, lane.instance ?? lane.client]));
  return html`<div class="view">
    <div class="bar"><label>Group <select value=${response.group ?? ""} onChange=${event => choose(event.currentTarget.value)}>
      ${response.groups.map(name => html`<option value=${name}>${plain(name)}</option>`)}</select></label>
      ${WINDOWS.map(([label, width]) => html`<button aria-pressed=${String(span === width)} onClick=${() => widen(width)}>${label}</button>`)}</div>
    ${problems(response, problem)}
    ${response.lanes.length ? html`<${Lanes} response=${response} span=${span}/>` : html`<p class="none">No group has been seen.</p>`}
    ${response.lanes.length > 0 && html`<h2>Generations and epochs</h2>
    <${Table} label="Generations" none="None has begun." rows=${response.bands} columns=${[
      ["generation", row => row.generation, "number"], ["began", row => clock(row.from)], ["why", row => row.why],
      ["members", row => row.members, "number"], ["join ms", row => ms(row.join_ms ?? null), "number"],
      ["waited for", row => row.waited_for], ["assignment ms", row => ms(row.assignment_ms ?? null), "number"],
      ["delivery stood still ms", row => ms(row.standstill_ms), "number"],
      ["moved", row => row.moved.map(one => `${one.topic}[${one.partition}]: ${names[one.from] ?? one.from} → ${names[one.to] ?? one.to}`).join(", ")],
    ]}/>
    <h2>Lag</h2><p class="none">From committed offsets and log ends in the traffic here. Clients that connect elsewhere are not included.</p>
    <${Table} label="Lag" none="No committed offset has passed." rows=${response.lag} columns=${[
      ["partition", row => `${row.topic}[${row.partition}]`], ["committed", row => row.committed.offset, "number"], ["said by", row => row.committed.api],
      ["end", row => row.end?.offset ?? "not seen", "number"], ["lag", row => row.lag, "number"], ["end seen", row => row.end ? clock(row.end.ts) : ""],
    ]}/>`}</div>`;
}

const element = node => typeof node === "string" ? node : h(node[0], node[1], ...node.slice(2).map(element));

function Lanes({response, span}) {
  const [first, end] = spanOf(response.lanes), from = Math.max(first, end - span);
  const open = each => go({view: "exchanges", filter: `connection == ${each.connection} && correlation_id == ${each.correlation_id}`, chosen: null});
  return html`${element(drawn(response, from, end, open))}<${LagPlot} series=${response.lag_over_time} from=${from} to=${end}/>`;
}
