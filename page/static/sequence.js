// Sequence: which message arrived at the proxy when, and when it left, over a window of time that moves.
import * as api from "./api.js";
import {Detail} from "./detail.js";
import {usePolled} from "./polled.js";
import {Chart, TOP} from "./sequence_chart.js";
import {Export} from "./sequence_export.js";
import {byStep, ROW, toScale} from "./sequence_scale.js";
import {Select, useSelection} from "./sequence_selection.js";
import {saying, timed, waited} from "./sequence_text.js";
import {around, moved, ofRow, zoomed} from "./sequence_window.js";
import {go, set, state} from "./store.js";
import {problems, Table} from "./table.js";
import {clock, count, ms, plain} from "./text.js";
import {html, useEffect, useMemo, useRef, useState} from "./vendor/preact.js";

const AWAIT = 120, OVER = 3600e3, EVERY = 1000;
const LEGEND = [["request", "request"], ["response", "response"], ["error", "response with an error"], ["late", "slope: it waited in the proxy; to the middle: it waits still"],
  ["lost", "×: it never left"], ["made", "○: the proxy made it"], ["unknown", "dashes: departure unknown"], ["flight", "bars at a client's lane: requests in flight"]];

const key = one => one.number + one.direction;
let steps = false;  // a row for each event; it stays so while the page is open

const columns = [
  ["#", row => row.number < 0 ? "" : row.number, "number"], ["message", row => `${row.api} v${row.version} ${row.direction}`], ["correlation id", row => row.correlation_id, "number"],
  ["connection", row => row.connection, "number"], ["client", row => row.client], ["broker", row => row.broker || "unknown"],
  ["arrived", row => row.arrived ? clock(row.arrived) : "–"], ["left", row => row.left ? clock(row.left) : "–"], ["in the proxy ms", row => ms(waited(row)), "number"],
  ["outcome", row => [row.reason, row.error, row.note !== row.reason && row.note, ...row.rules.map(rule => "⟵ " + rule)].filter(Boolean).join(" ")],
];

export function Sequence() {
  const [selection, select] = useSelection();
  return selection ? html`<${Diagram} selection=${selection} select=${select}/>` : problems(null, "");
}

function Diagram({selection, select}) {
  const box = useRef();
  const [size, fit] = useState([800, 500]);
  const [frame, move] = useState(null);  // null: the last exchanges, as they come
  const [requested, ask] = useState(null);
  const [rows, arrange] = useState(steps), [offset, scroll] = useState(null);  // null: the end of what comes, else the beginning
  const [side, turn] = useState("request");
  const [table, tabled] = useState(false);
  const [open, look] = useState(null), chosen = open ?? state.chosen;  // open: one that is not over, which has no detail yet
  useEffect(() => {
    const timer = setTimeout(() => ask(frame), AWAIT);
    return () => clearTimeout(timer);
  }, [frame]);
  const [from, to] = (requested ?? []).map(at => at < 0n ? 0n : at), query = {...selection, ...requested && {from, to}};  // there is nothing before the epoch
  const [response, problem] = usePolled("/sequence?" + new URLSearchParams({...query}), state.source.over ? OVER : EVERY);
  const visible = frame ?? (response ? around(BigInt(response.from), BigInt(response.to), 40n) : [0n, 1n]);
  const origin = response ? BigInt(response.from) : 0n;
  const messages = useMemo(() => (response?.messages ?? []).map(row => timed(row, origin)), [response]);
  const index = messages.findIndex(one => one.number === chosen && one.direction === side);
  const whole = useMemo(() => rows ? byStep(messages) : null, [messages, rows]);
  const view = Math.max(50, size[1] - TOP), most = rows ? Math.max(0, whole.height - view) : 0;
  const top = Math.min(most, Math.max(0, offset ?? (frame || state.source.over ? 0 : most)));
  const scale = rows ? whole.from(top) : toScale(Number(visible[0] - origin), Number(visible[1] - visible[0]), view);
  const picked = messages[index] ?? messages.find(one => one.number === chosen);

  const pick = one => {
    turn(one.direction);
    look(one.number < 0 ? one.number : null);
    go({chosen: one.number < 0 ? null : one.number});
    if (!frame) move(visible);  // what is looked at stays
  };
  const all = () => response && move(around(BigInt(response.first), BigInt(response.last), 40n));
  const exchange = () => picked && move(around(BigInt(picked.began), BigInt(picked.ended)));
  const zoom = (times, part) => {
    const at = picked ? Number(BigInt(picked.arrived ?? picked.left) - visible[0]) / Number(visible[1] - visible[0]) : .5;
    move(zoomed(visible, times, part ?? (at >= 0 && at < 1 ? at : .5)));
  };
  const page = by => {
    const next = Math.min(most, Math.max(0, top + by * view));
    if (rows && next !== top) return scroll(next);
    scroll(by < 0 ? Infinity : 0);
    move(moved(visible, by));
  };
  const turnOver = () => arrange(steps = !rows);
  const show = selection => {
    select(selection);
    scroll(null);
    if (Object.keys(selection).length) move(null);
  };
  const step = by => {
    if (!messages.length) return;
    const one = messages[Math.min(messages.length - 1, Math.max(0, index < 0 ? (by > 0 ? 0 : messages.length - 1) : index + by))];
    const at = BigInt(one.arrived ?? one.left);
    pick(one);
    if (at < visible[0] || at >= visible[1]) move([at - (visible[1] - visible[0]) / 2n, at + (visible[1] - visible[0]) / 2n]);
  };
  const does = {
    j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
    "+": () => zoom(.5), "=": () => zoom(.5), "-": () => zoom(2), PageDown: () => page(.5), PageUp: () => page(-.5),
    Home: () => { scroll(0); if (response) move([BigInt(response.first), BigInt(response.first) + visible[1] - visible[0]]); }, End: () => { scroll(rows ? Infinity : null); move(null); }, 0: all, z: exchange,
    t: () => tabled(!table), s: turnOver, Enter: () => state.chosen !== null && set({opened: true}), Escape: () => set({opened: false}),
  };
  const latest = useRef();
  latest.current = {does, visible, zoom, rows, top, scroll};

  useEffect(() => {
    const pressed = event => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
      if (event.target.matches("button, summary, a") && (event.key === "Enter" || event.key === " ")) return;
      if (event.target.closest(".table, aside") && /^(Arrow|Page|Home|End)/.test(event.key)) return;
      const act = latest.current.does[event.key];
      if (!act || (event.key === "Escape" && state.help)) return;
      event.preventDefault();
      act();
    };
    const turned = event => {
      event.preventDefault();
      const {top, height} = box.current.getBoundingClientRect();
      if (event.ctrlKey) latest.current.zoom(2 ** (event.deltaY / 200), (event.clientY - top) / height);
      else if (latest.current.rows) scroll(latest.current.top + event.deltaY);
      else move(moved(latest.current.visible, event.deltaY / height));
    };
    let held = null;  // where a finger or the mouse took hold, and of which window
    const hold = event => { held = {y: event.clientY, frame: latest.current.visible, top: latest.current.top}; };
    const drag = event => {
      if (!held || !event.buttons || Math.abs(event.clientY - held.y) < 5) return;
      box.current.setPointerCapture(event.pointerId);  // what is under it is not chosen then
      if (latest.current.rows) scroll(held.top + held.y - event.clientY);
      else move(moved(held.frame, (held.y - event.clientY) / box.current.clientHeight));
    };
    const resized = new ResizeObserver(() => box.current?.clientWidth && fit([box.current.clientWidth, box.current.clientHeight]));
    document.addEventListener("keydown", pressed);
    box.current.addEventListener("wheel", turned, {passive: false});
    box.current.addEventListener("pointerdown", hold);
    box.current.addEventListener("pointermove", drag);
    resized.observe(box.current);
    // who comes with an exchange chosen wants to see that one
    if (state.chosen !== null) api.rows([state.chosen]).then(([row]) => row && move(ofRow(row)), () => {});
    return () => {
      document.removeEventListener("keydown", pressed);
      resized.disconnect();
    };
  }, []);

  useEffect(() => {
    if (!rows || !picked) return;
    const y = scale.of(picked, picked.came === null ? "gone" : "came");
    if (y < ROW || y > view - ROW) scroll(top + y - view / 2);
  }, [rows, picked && key(picked)]);

  const draw = more => html`<${Chart} messages=${messages} origin=${origin} frame=${visible} scale=${scale} picked=${[chosen, picked?.direction]} pick=${one => { pick(one); set({opened: true}); }} width=${size[0]} height=${size[1]} ...${more}/>`;
  const chart = useMemo(() => draw(), [response, frame, chosen, side, rows, top, ...size]);
  const file = () => draw({spoken: true, ...rows && {scale: whole.from(0), height: whole.height + TOP}});
  const button = (label, title, what, pressed) => html`<button title=${title} aria-pressed=${pressed === undefined ? undefined : String(pressed)} onClick=${what}>${label}</button>`;
  return html`<div class="bar tools">
      ${button("Latest", "the last exchanges, as they come (End)", () => move(null), frame === null)}
      ${button("Earlier", "key Page ↑, or the wheel", does.PageUp)}${button("Later", "key Page ↓, or the wheel", does.PageDown)}
      ${button("Zoom in", "key +, or Ctrl and the wheel", does["+"])}${button("Zoom out", "key -", does["-"])}${button("All", "key 0", all)}
      ${picked && button("This exchange", "from its request to its response (z)", exchange)}
      <${Select} selection=${selection} choices=${response?.choices} select=${show}/>
      <span class="choices" role="group" aria-label="Scale">${button("To scale", "distances are times (s)", () => rows && turnOver(), !rows)}${button("By step", "a row for each arrival and departure (s)", () => rows || turnOver(), rows)}</span>
      ${button("Table", "the same as text (t)", does.t, table)}<${Export} messages=${messages} chart=${file}/></div>
    ${problems(response, problem)}
    <p class="said" role="status">${picked ? saying(picked) : response ? `${count(messages.length)} messages from ${clock(visible[0])} on, ${ms(Number(visible[1] - visible[0]) / 1e6)} ms${messages.length ? "" : ": none is in this window, try All"}` : ""}
      ${response?.left_out > 0 && html` <b>${count(response.left_out)} later messages are left out: zoom in.</b>`}</p>
    <div class="split">
      <div class="chart" ref=${box} hidden=${table}>${chart}</div>
      ${table && html`<div class="view"><${Table} label="Messages" none="No message is in this window." columns=${columns}
        rows=${messages.map(one => ({...one, key: key(one), kind: one.error || one.lost ? "error" : ""}))}/></div>`}
      ${state.opened && state.chosen !== null && html`<aside aria-label="Detail" tabindex="0"><${Detail} number=${state.chosen} key=${state.chosen}/></aside>`}</div>
    <p class="legend sequence-legend">${LEGEND.map(([kind, text]) => html`<span class=${kind}>${plain(text)}</span>`)}</p>`;
}
