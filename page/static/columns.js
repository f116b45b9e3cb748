// The columns of the list: what they show, and what a filter calls it. This browser remembers which are shown, and how wide.
import {Menu} from "./menu.js";
import {set} from "./store.js";
import {bytes, literal, ms, plain} from "./text.js";
import {html} from "./vendor/preact.js";

const equal = (name, value) => value === null || value === undefined ? null : [`${name} == ${literal(value)}`, `${name} != ${literal(value)}`];
const group = row => /group (\S+)/.exec(row.details)?.[1];

// from: pixels of the list from which on it is shown unless chosen otherwise; only: what a click on its cell filters by, [these, all others]
export const COLUMNS = [
  {name: "time", column: "ts", about: "ts: when the request arrived, UTC", width: "88px", from: 0, text: row => row.ts.slice(11, 23)},
  {name: "client", column: "client_id", about: "client_id, or client_address of a client without one", width: "minmax(60px, .8fr)", from: 0, text: row => row.client_id || row.client_address,
    only: row => row.client_id ? equal("client_id", row.client_id) : equal("client_address", row.client_address)},
  {name: "conn", column: "connection", about: "connection", width: "36px", from: 620, text: row => row.connection, only: row => equal("connection", row.connection)},
  {name: "broker", column: "broker", about: "broker", width: "46px", from: 620, text: row => row.broker ?? "", only: row => equal("broker", row.broker)},
  {name: "api", column: "api", about: "api, version", width: "minmax(90px, 1.3fr)", from: 0, text: row => `${row.api} v${row.version}`, only: row => equal("api", row.api)},
  {name: "target", about: "request.…: the fields of the message", width: "minmax(80px, 3fr)", from: 620, text: row => row.details,
    only: row => row.topics.length === 1 ? [`contains(topics, ${literal(row.topics[0])})`, `!contains(topics, ${literal(row.topics[0])})`] : group(row) ? [group(row), null] : null},
  {name: "user", column: "user", about: "user: whom the connection logged in as", width: "90px", from: Infinity, text: row => row.user ?? "", only: row => equal("user", row.user)},
  {name: "correlation", column: "correlation_id", about: "correlation_id", width: "80px", from: Infinity, text: row => row.correlation_id},
  {name: "size", column: "request_size", about: "request_size, response_size", width: "110px", from: 1000, text: row => `${bytes(row.request_size)} → ${row.response_size === null ? "–" : bytes(row.response_size)}`},
  {name: "ms", column: "latency_ms", about: "latency_ms: until the client had the response", width: "56px", from: 0, text: row => ms(row.latency_ms), only: row => row.latency_ms === null ? null : [`latency_ms >= \`${row.latency_ms}\``, `latency_ms < \`${row.latency_ms}\``]},
  {name: "broker ms", column: "broker_ms", about: "broker_ms: time at the broker, after its previous response", width: "68px", from: 1000, text: row => ms(row.broker_ms)},
  {name: "waterfall", about: "when it was under way, among those in view: in the proxy, and at the broker", width: "minmax(90px, 1fr)", from: 1250, text: () => "",
    cell: (row, frame) => html`<${Waterfall} row=${row} frame=${frame}/>`},
  {name: "outcome", column: "error", about: "error, note, rules", width: "minmax(60px, 2fr)", from: 0, text: row => [row.error, row.note, ...row.rules.map(rule => "⟵ " + rule)].filter(Boolean).join(" "),
    only: row => row.error ? equal("error", row.error) : row.rules.length ? [`contains(rules, ${literal(row.rules[0])})`, `!contains(rules, ${literal(row.rules[0])})`] : null},
];

export const css = name => name.replace(" ", "-");
export const line = row => COLUMNS.filter(column => !column.cell && column.from < Infinity).map(({text}) => text(row)).join("  ");

const LEAST = 30;
let remembered = {shown: {}, widths: {}};
try { remembered = {...remembered, ...JSON.parse(localStorage.getItem("columns"))}; } catch { /* what another version left */ }

function keep(changes) {
  remembered = {...remembered, ...changes};
  localStorage.setItem("columns", JSON.stringify(remembered));
  set();
}

export const shown = width => COLUMNS.filter(({name, from}) => remembered.shown[name] ?? width >= from);
export const template = columns => columns.map(({name, width}) => remembered.widths[name] ? `${remembered.widths[name]}px` : width).join(" ");

// a column follows the mouse at its right edge
export function resize(event, name) {
  event.preventDefault();
  const cell = event.currentTarget.parentElement, begin = event.clientX, {width} = cell.getBoundingClientRect();
  const moved = ({clientX}) => keep({widths: {...remembered.widths, [name]: Math.max(LEAST, Math.round(width + clientX - begin))}});
  const over = () => { removeEventListener("pointermove", moved); for (const end of ["pointerup", "pointercancel"]) removeEventListener(end, over); };
  addEventListener("pointermove", moved);
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, over);
}

export const ColumnMenu = ({width}) => html`<${Menu} kind="columns" label="Columns" title="which columns are shown">${COLUMNS.map(({name, from, about}) => html`<label key=${name}><input type="checkbox" checked=${remembered.shown[name] ?? width >= from}
      onChange=${({currentTarget}) => keep({shown: {...remembered.shown, [name]: currentTarget.checked}})}/> ${name} <small>${about}</small></label>`)}
    <button onClick=${() => keep({shown: {}, widths: {}})}>Reset columns</button><//>`;

export const began = row => Date.parse(row.ts.slice(0, 23) + "Z") + Number(row.ts.slice(23, 26)) / 1000;

// a bar from the request's arrival to the response's departure: the broker's part, and the rest, which the exchange spent in the proxy
function Waterfall({row, frame: [from, to]}) {
  const part = time => 100 * time / Math.max(to - from, 1e-3), total = row.latency_ms ?? 0, broker = Math.min(row.broker_ms ?? total, total);
  const title = row.latency_ms === null ? "no response" : `${ms(total)} ms: ${ms(total - broker)} in the proxy, ${ms(broker)} at the broker`;
  return html`<span class="flow" title=${plain(title)}><i style=${{left: `${part(began(row) - from)}%`}} class=${row.latency_ms === null ? "unanswered" : ""}>
    <b class="proxy" style=${{width: `calc(1cqw * ${part(total - broker).toFixed(3)})`}}></b><b class="broker" style=${{width: `calc(1cqw * ${part(broker).toFixed(3)})`}}></b></i></span>`;
}
