// Groups: a lane a member over time, bands for generations and epochs, who was late, what moved, lag.
import {usePolled} from "./polled.js";
import {go} from "./store.js";
import {problems, Table} from "./table.js";
import {clock, ms, plain, toMs} from "./text.js";
import {html, useState} from "./vendor/preact.js";

const WINDOWS = [["all", Infinity], ["5 min", 300e3], ["1 min", 60e3], ["10 s", 10e3]];
const LANE = 26, BAND = 34;
const LEGEND = ["JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit", "LeaveGroup", "ConsumerGroupHeartbeat", "RegisterConsumer", "StopFetcher", "StartFetcher", "Ping"];

export function Groups() {
  const [group, choose] = useState("");
  const [span, widen] = useState(Infinity);
  const [found, problem] = usePolled("/groups?" + new URLSearchParams(group ? {group} : {}));
  if (!found) return html`<div class="view">${problems(found, problem)}</div>`;
  if (!group && found.group) choose(found.group);
  const names = Object.fromEntries(found.lanes.map(lane => [lane.member, lane.instance ?? lane.client]));
  return html`<div class="view">
    <div class="bar"><label>Group <select value=${found.group ?? ""} onChange=${event => choose(event.currentTarget.value)}>
      ${found.groups.map(name => html`<option value=${name}>${plain(name)}</option>`)}</select></label>
      ${WINDOWS.map(([label, width]) => html`<button aria-pressed=${String(span === width)} onClick=${() => widen(width)}>${label}</button>`)}</div>
    ${problems(found, problem)}
    ${found.lanes.length ? html`<${Lanes} found=${found} span=${span}/>` : html`<p class="none">No group has been seen.</p>`}
    ${found.lanes.length > 0 && html`<h2>Generations and epochs</h2>
    <${Table} label="Generations" none="None has begun." rows=${found.bands} columns=${[
      ["generation", row => row.generation, "number"], ["began", row => clock(row.from)], ["why", row => row.why],
      ["members", row => row.members, "number"], ["join ms", row => ms(row.join_ms ?? null), "number"],
      ["waited for", row => row.waited_for], ["assignment ms", row => ms(row.assignment_ms ?? null), "number"],
      ["delivery stood still ms", row => ms(row.standstill_ms), "number"],
      ["moved", row => row.moved.map(one => `${one.topic}[${one.partition}]: ${names[one.from] ?? one.from} → ${names[one.to] ?? one.to}`).join(", ")],
    ]}/>
    <h2>Lag</h2><p class="none">From the offsets that passed here: committed ones, and ends of logs in responses. Who did not ask here is not seen.</p>
    <${Table} label="Lag" none="No committed offset has passed." rows=${found.lag} columns=${[
      ["partition", row => `${row.topic}[${row.partition}]`], ["committed", row => row.committed.offset, "number"], ["said by", row => row.committed.api],
      ["end", row => row.end?.offset ?? "not seen", "number"], ["lag", row => row.lag, "number"], ["end seen", row => row.end ? clock(row.end.ts) : ""],
    ]}/>`}</div>`;
}

function Lanes({found, span}) {
  const times = found.lanes.flatMap(lane => lane.events.flatMap(each => [toMs(each.start), toMs(each.end ?? each.start)]));
  const end = times.reduce((a, b) => Math.max(a, b)), first = times.reduce((a, b) => Math.min(a, b));
  const start = Math.max(first, end - span), width = Math.max(end - start, 1);
  const at = time => 100 * (time - start) / width;
  const shown = found.lanes.filter(lane => lane.events.some(each => toMs(each.end ?? each.start) >= start));
  const late = new Set(found.bands.flatMap(({late}) => late && late.kind !== "untold" ? late.members : []));
  const apis = new Set(found.lanes.flatMap(lane => lane.events.map(each => each.api)));
  const height = BAND + LANE * shown.length;
  const open = each => go({view: "exchanges", filter: `connection == ${each.connection} && correlation_id == ${each.correlation_id}`, chosen: null});
  return html`<div class="lanes" role="group" aria-label="Lanes of members">
    <div class="names" aria-hidden="true"><div class="band">generation</div>${shown.map(lane => html`
      <div key=${lane.member} class=${late.has(lane.member) ? "late" : ""} title=${plain(lane.member)}>${plain(lane.instance ?? lane.client)}${late.has(lane.member) ? " (late)" : ""}</div>`)}</div>
    <svg height=${height} role="img" aria-label=${`${shown.length} members from ${new Date(start).toISOString()} to ${new Date(end).toISOString()}; the table below says the same`}>
      ${found.bands.map((band, number) => {
        const from = Math.max(0, at(toMs(band.from))), to = band.until === null ? 100 : at(toMs(band.until));
        const still = at(toMs(band.from) + (band.standstill_ms ?? 0));
        return to > 0 && html`<g key=${band.from}><title>${`generation ${band.generation}: ${band.why}${band.waited_for ? ", waited for " + band.waited_for : ""}`}</title>
          <rect class=${`band b${number % 2}`} x=${from + "%"} y="0" width=${Math.max(0, to - from) + "%"} height=${height}/>
          ${still > from && html`<rect class="still" x=${from + "%"} y="0" width=${Math.min(still, 100) - from + "%"} height=${height}/>`}
          <text x=${from + "%"} dx="4" y="21">${band.generation}</text></g>`;
      })}
      ${shown.map((lane, row) => html`<g key=${lane.member}>${lane.events.map(each => {
        const from = at(toMs(each.start)), to = at(toMs(each.end ?? each.start));
        return to >= 0 && html`<rect key=${each.start + each.correlation_id} class=${`event ${each.api} ${each.error ? "error" : ""}`} x=${Math.max(0, from) + "%"} y=${BAND + row * LANE + 5}
          width=${Math.max(.25, to - Math.max(0, from)) + "%"} height=${LANE - 10} rx="2" onClick=${() => open(each)}>
          <title>${plain(`${each.api}${each.count > 1 ? ` × ${each.count}` : ""} at ${clock(each.start)}, generation ${each.generation}${each.error ? ", " + each.error : ""}`)}</title></rect>`;
      })}</g>`)}
    </svg>
    <p class="legend">${LEGEND.filter(api => apis.has(api)).map(api => html`<span class=${api}>${api}</span>`)}<span class="stood">delivery stands still</span></p></div>`;
}
