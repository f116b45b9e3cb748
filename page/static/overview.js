// The overview: figures over the last minutes (of a capture: over all of it), and what the checks found.
import {Link, show} from "./links.js";
import {usePolled} from "./polled.js";
import {go, state} from "./store.js";
import {problems, Table} from "./table.js";
import {bytes, count, ms, plain, plural} from "./text.js";
import {html, useState} from "./vendor/preact.js";

const FEW = 3;

// the exchanges that show a finding, as a filter
const filterOf = evidence => evidence.map(one => `connection == \`${one.connection}\` && correlation_id == \`${one.correlation_id}\``).join(" || ");

export function Overview() {
  const [overview, problem] = usePolled("/overview");
  return html`<div class="view">${problems(overview, problem)}${overview && html`<${Figures} overview=${overview}/><${StandsOut} overview=${overview}/><${Tables} tables=${overview.tables}/>`}</div>`;
}

function Figures({overview: {timeline, errors_filter: errors}}) {
  const {columns, total, width_ms: width} = timeline, live = state.source.kind === "live" && !state.source.over;
  const seconds = (live ? timeline.recent_ms : columns.length * width) / 1000, of = live ? timeline.recent : total;
  const rate = name => seconds ? of[name] / seconds : 0, number = each => each >= 10 || !each ? count(Math.round(each)) : each.toFixed(1);
  const time = each => each === null ? "–" : `${ms(each)} ms`;
  const cards = [
    ["Exchanges", count(total.exchanges), live ? `${number(rate("exchanges"))}/s now` : `${number(rate("exchanges"))}/s`, "exchanges", () => show("")],
    ["Errors", count(total.errors), live ? `${number(rate("errors"))}/s now` : total.errors ? `${(100 * total.errors / total.exchanges).toFixed(1)} % of exchanges` : "normal errors not counted", "errors", () => show(errors), total.errors > 0],
    ["Latency p50", time(of.p50_ms), live ? `${time(total.p50_ms)} since the start` : "half are faster", "p50_ms", () => go({view: "latency"})],
    ["Latency p99", time(of.p99_ms), live ? `${time(total.p99_ms)} since the start` : "1 % are slower", "p99_ms", of.p99_ms !== null && (() => show(`latency_ms >= \`${of.p99_ms.toFixed(3)}\``))],
    ["Connections", count(of.connections), live ? `in 10 s, ${count(total.connections)} since the start` : "with exchanges", "connections", live && (() => go({view: "network"}))],
    ["Bytes", bytes(total.bytes), live ? `${bytes(Math.round(rate("bytes")))}/s now` : `${bytes(Math.round(rate("bytes")))}/s`, "bytes", null],
  ];
  return html`<dl class="figures">${cards.map(([name, value, below, field, opens, bad]) => html`<div key=${name} class=${bad ? "bad" : ""}>
    <dt>${opens ? html`<button class="link" onClick=${opens}>${name}</button>` : name}</dt><dd>${value}<small>${below}</small></dd>
    <${Spark} values=${columns.map(each => each[field])}/></div>`)}</dl>`;
}

// a line over time, through the values that there are
function Spark({values}) {
  const most = Math.max(...values.map(each => each ?? 0), 1e-9), step = 100 / Math.max(values.length - 1, 1);
  const points = values.flatMap((value, at) => value === null ? [] : [[(at * step).toFixed(2), (30 - 28 * value / most).toFixed(2)]]);
  if (!points.length) return html`<svg class="spark" aria-hidden="true"></svg>`;
  const line = points.length > 1 ? "M" + points.map(point => point.join(" ")).join("L") : `M0 ${points[0][1]}H100`;
  return html`<svg class="spark" viewBox="0 0 100 31" preserveAspectRatio="none" aria-hidden="true"><path class="area" d=${`${line}V31H${points.length > 1 ? points[0][0] : 0}Z`}/><path d=${line}/></svg>`;
}

const TABLES = [["client", "Clients"], ["topic", "Topics"], ["api", "APIs"], ["broker", "Brokers"]];

const Tables = ({tables}) => html`<div class="quarters">${TABLES.map(([name, title]) => html`<section key=${name}><h2>${title}</h2>
  <${Table} label=${title} none="None yet." rows=${tables[name].map(row => ({...row, key: row.name}))} columns=${[
    [name, row => html`<${Link} table=${name} name=${row.name}/>`],
    ["exchanges", row => count(row.count), "number"], ["errors", row => row.errors ? count(row.errors) : "", "number"], ["p99 ms", row => ms(row.p99_ms), "number"]]}/></section>`)}</div>`;

function StandsOut({overview: {stands_out: all, failed, waiting}}) {
  const over = state.source.over && !waiting;
  return html`<section class="panel"><h2>What stands out</h2>
    ${failed && html`<p class="problem" role="alert">${plain(failed)}</p>`}
    ${all.length ? all.map(each => html`<${Check} key=${each.check} result=${each}/>`) : html`<p class="none">${over ? "Nothing: no check found anything." : "Nothing so far. The checks of barnabas check run while traffic passes."}</p>`}</section>`;
}

function Check({result: {check, problem, severity, counts, findings}}) {
  const [more, open] = useState(false), listed = more ? findings : findings.slice(0, FEW);
  const all = Object.values(counts).reduce((sum, each) => sum + each, 0);
  return html`<section aria-label=${`Check ${check}`}><h3><span class=${`badge ${severity}`}>${severity}</span> ${check} <small>${problem} · ${
      Object.entries(counts).map(([name, number]) => plural(number, name)).join(", ")}</small></h3>
    <ul class="statements">${listed.map(each => html`<li key=${each.ts + each.what} class=${each.severity}>
      <button class="link" title="show its exchanges" onClick=${() => show(filterOf(each.evidence))}>${plain(each.what)}</button>
      <small> ${each.ts.slice(11, 19)}</small><br/><small>${plain(each.advice)}</small></li>`)}</ul>
    ${findings.length > FEW && html`<button onClick=${() => open(!more)}>${more ? "Fewer" : `${count(findings.length - FEW)} more`}</button>`}
    ${more && all > findings.length && html` <small>${count(all - findings.length)} earlier findings are not listed.</small>`}</section>`;
}
