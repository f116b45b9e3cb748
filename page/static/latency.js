// Latency: how many exchanges took how long over time, and percentiles by API, client or broker.
import {HeatMap} from "./heat_map.js";
import {Link} from "./links.js";
import {usePolled} from "./polled.js";
import {problems, Table} from "./table.js";
import {count, ms} from "./text.js";
import {html, useState} from "./vendor/preact.js";

const SIDES = [["client", "as clients saw it", "latency_ms"], ["broker", "the brokers alone", "broker_ms"]];
const TABLES = [["api", "by API"], ["client", "by client"], ["broker", "by broker"]];

const Choice = ({label, of, chosen, choose}) => html`<span class="choices" role="group" aria-label=${label}>${of.map(([name, text]) => html`
  <button key=${name} aria-pressed=${String(chosen === name)} onClick=${() => choose(name)}>${text}</button>`)}</span>`;

export function Latency() {
  const [latencies, problem] = usePolled("/latency", 2000);
  const [side, choose] = useState("client"), [by, order] = useState("api");
  const column = SIDES.find(([name]) => name === side)[2];
  return html`<div class="view"><div class="bar"><${Choice} label="Latency" of=${SIDES} chosen=${side} choose=${choose}/></div>
    ${problems(latencies, problem)}
    ${latencies && html`<${HeatMap} heat=${latencies[side].heat} column=${column}/>
      <div class="bar"><h2>Percentiles</h2><${Choice} label="Percentiles" of=${TABLES} chosen=${by} choose=${order}/></div>
      <${Table} label="Percentiles" none="No response has been seen." rows=${latencies[side].tables[by].map(row => ({...row, key: row.name}))} columns=${[
        [by === "api" ? "API" : by, row => html`<${Link} table=${by} name=${row.name}/>`], ["exchanges", row => count(row.count), "number"], ["p50 ms", row => ms(row.p50_ms), "number"],
        ["p99 ms", row => ms(row.p99_ms), "number"], ["longest ms", row => ms(row.max_ms), "number"]]}/>`}</div>`;
}
