// The network: brokers and their listeners, connections with what waits in them, and the hand on them.
import {call} from "./api.js";
import {usePolled} from "./polled.js";
import {set} from "./store.js";
import {problems, Table} from "./table.js";
import {bytes, count, plain, plural} from "./text.js";
import {html, useRef} from "./vendor/preact.js";

const tell = (path, again) => call("POST", path).then(again, problem => set({problem: problem.message}));

const Capture = ({path, packets, lost_packets: lost, stopped}) => html`<p class=${lost || stopped ? "problem" : "none"} role="status">capture ${plain(path)}: ${
  [plural(packets, "packet"), lost && `${count(lost)} lost`, stopped && `stopped: ${plain(stopped)}`].filter(Boolean).join(", ")}</p>`;

export function Network() {
  const [status, trouble] = usePolled("/status");
  const [found, problem, again] = usePolled("/connections");
  const before = useRef({at: 0, bytes: new Map(), rates: new Map()});
  if (found && found !== before.current.found) {
    const {at, bytes: old} = before.current, now = performance.now();
    const all = found.map(each => [each.connection, each.request.received_bytes + each.response.received_bytes]);
    before.current = {found, at: now, bytes: new Map(all),
      rates: new Map(all.filter(([number]) => old.has(number)).map(([number, sum]) => [number, 1000 * (sum - old.get(number)) / (now - at)]))};
  }
  const {rates} = before.current;
  const hand = row => html`<span class="hand">${[
    row.paused ? ["resume", "Resume"] : ["pause", "Pause"],
    ...row.paused ? [["step?direction=request", "Step request"], ["step?direction=response", "Step response"]] : [],
    ["close", "Close"],
  ].map(([what, label]) => html`<button aria-label=${`${label}: connection ${row.connection}`} onClick=${() => tell(`/connections/${row.connection}/${what}`, again)}>${label}</button>`)}</span>`;
  const way = name => row => `${count(row[name].frames)}, ${bytes(row[name].received_bytes)}`;
  const waits = row => [row.paused && "paused", ...["request", "response"].flatMap(name => [
    row[name].queued && `${plural(row[name].queued, name)} delayed`, row[name].held && `${plural(row[name].held, name)} held`, row[name].lost && `${name}s are lost`,
  ])].filter(Boolean).join(", ");
  return html`<div class="view">
    ${problems(found && status, problem || trouble)}
    ${status && html`<div class="bar"><span>${status.draining ? "draining" : "running"}: clients connect to ${status.listen} · ${count(status.connections.open)} open, ${count(status.connections.accepted)} accepted, ${count(status.connections.refused)} without a broker</span>
      <button class="danger" onClick=${() => confirm("Stop the proxy? What is under way may finish first.") && tell("/drain", again)}>Drain and stop</button></div>
    ${status.capture && html`<${Capture} ...${status.capture}/>`}
    <h2>Brokers</h2><${Table} label="Brokers" none="No broker is known yet." rows=${status.brokers} columns=${[
      ["id", row => `${row.kind} ${row.id}`], ["listener", row => row.listen], ["broker's address", row => row.upstream]]}/>`}
    ${found && html`<h2>Connections</h2><${Table} label="Connections" none="No connection is open." rows=${found.map(row => ({...row, key: row.connection, kind: row.paused ? "paused" : ""}))} columns=${[
      ["number", row => row.connection, "number"], ["do", hand], ["client", row => row.client_id || row.client_address], ["address", row => row.client_address],
      ["broker", row => row.broker ?? "bootstrap"], ["requests", way("request")], ["responses", way("response")],
      ["KiB/s", row => rates.has(row.connection) ? (rates.get(row.connection) / 1024).toFixed(1) : "", "number"],
      ["in flight", row => row.waiting_requests || "", "number"], ["waits", waits]]}/>`}</div>`;
}
