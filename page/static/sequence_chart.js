// The lines of the sequence: time goes down, clients stand left of the proxy and brokers right of it. A message
// enters the proxy's band when it arrived and comes out of it when it left: what waits there is a slope.
import {HEIGHT, place} from "./sequence_labels.js";
import {bars, GUTTER, labels, lanes, LATE_MS, obstacles, paths} from "./sequence_lines.js";
import {oneSided, saying, unknown, waited} from "./sequence_text.js";
import {clock, plain} from "./text.js";
import {html} from "./vendor/preact.js";

export const TOP = 36;
const STEPS = Array.from({length: 16}, (_, power) => [1, 2, 5].map(each => each * 10 ** power)).flat();

const pen = document.createElement("canvas").getContext("2d"), widths = new Map();
function measure(text) {
  if (widths.size > 10000) widths.clear();
  if (!widths.has(text)) {
    pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    widths.set(text, Math.ceil(pen.measureText(text).width) + 2);
  }
  return widths.get(text);
}

const fitting = (name, room) => {
  const most = Math.max(2, Math.floor(room / 7)), short = name.replace(/^broker /, "b");
  return name.length <= most ? name : short.length <= most ? short : "…" + name.slice(1 - most);
};

const seconds = (time, digits) => `${clock(time).slice(6, 8)}.${String(time % 1000000000n).padStart(9, "0").slice(0, digits)}`;

function ScaleAxis({frame, height}) {
  const span = Number(frame[1] - frame[0]), least = 48 / height * span, step = STEPS.find(each => each >= least) ?? STEPS.at(-1);
  const digits = step >= 1e9 ? 0 : step >= 1e6 ? 3 : step >= 1e3 ? 6 : 9, marks = [];
  for (let time = (frame[0] / BigInt(step) + 1n) * BigInt(step); time < frame[1]; time += BigInt(step)) marks.push(time);
  return marks.map(time => ({y: Number(time - frame[0]) / span * height, text: digits ? seconds(time, digits) : clock(time).slice(0, 8)}))
    .filter(({y}) => y > 8 && y < height - 4);
}

const stepMarks = (rows, origin, height) => rows.filter(({y}) => y > 4 && y < height - 2).map(({time, y}) => ({y, text: seconds(origin + BigInt(time), 6)}));

const Axis = ({marks, width}) => marks.map(({y, text}) => html`<g key=${y} class="mark"><path d=${`M${GUTTER - 6} ${y}H${width}`}/><text x=${GUTTER - 8} y=${y + 4} text-anchor="end">${text}</text></g>`);

const Names = ({lanes, room, kind, edge}) => lanes.map(({lane, x}, at) => html`<g key=${kind + lane} class="lane ${kind}"><title>${plain(lane || "unknown")}</title>
  <text x=${at === edge ? x + (kind === "brokers" ? 8 : -8) : x} y=${at % 2 ? 28 : 13} text-anchor=${at === edge ? (kind === "brokers" ? "end" : "start") : "middle"}>${fitting(plain(lane || "unknown"), room)}</text></g>`);

const Label = ({label: {kind, text}, box}) => html`<g class=${kind}><rect x=${box.x} y=${box.y} width=${box.width} height=${box.height}/>
  <text x=${box.x + 1} y=${box.y + HEIGHT - 2.5}>${plain(text)}</text></g>`;

function kinds(one, picked) {
  return ["message", one.direction, one.error && "error", one.rules.length && "by-rule", waited(one) >= LATE_MS && "late", one.lost && "lost", unknown(one) && "unknown",
    one.number === picked[0] && (one.direction === picked[1] ? "picked" : "mate")].filter(Boolean).join(" ");
}

// messages: `timed`, since `origin`; frame: from and to, in ns; scale: `toScale` or `byStep`; picked: [number,
// direction] of the message that is chosen; spoken: with a title for each message, as a file needs it
export function Chart({messages, origin, frame, scale, picked, pick, width, height: whole, spoken}) {
  const height = Math.max(50, whole - TOP), at = lanes(messages, width);
  const mates = messages.filter(one => one.number === picked[0]), [mate] = mates;
  const request = mates.find(one => one.direction === "request"), response = mates.find(one => one.direction === "response");
  const visible = paths(messages, at, scale, height, picked[0]), every = labels(visible, picked, measure);
  const boxes = place(obstacles(visible), every, {left: GUTTER, right: width, top: 0, bottom: height});
  const labelled = new Map(visible.map(({one}) => [one, []]));
  every.forEach((label, index) => boxes[index] && labelled.get(label.one).push({label, box: boxes[index]}));
  const ordered = [...visible].sort((a, b) => (a.one.number === picked[0]) - (b.one.number === picked[0]));
  const joins = mate && [`M${at.client.get(mate.client)} ${scale.at(mate.start)}V${response?.left ? scale.of(response, "gone") : scale.at(mate.end)}`,
    request?.left && response?.arrived && `M${at.broker.get(mate.broker)} ${scale.of(request, "gone")}V${scale.of(response, "came")}`];
  return html`<svg width=${width} height=${whole} role="img" aria-label=${`${messages.length} messages between ${at.clients.length} clients, the proxy and ${at.brokers.length} brokers; the table has them as text`}>
    <${Names} kind="clients" lanes=${at.clients} room=${at.room.clients} edge=${0}/>
    <text class="lane" x=${(at.left + at.right) / 2} y="13" text-anchor="middle">${oneSided(messages) ? "captured here" : "proxy"}</text>
    <${Names} kind="brokers" lanes=${at.brokers} room=${at.room.brokers} edge=${at.brokers.length - 1}/>
    <svg y=${TOP} width=${width} height=${height}>
      <rect class="proxy" x=${at.left} y="0" width=${at.right - at.left} height=${height}/>
      <${Axis} marks=${scale.rows ? stepMarks(scale.rows, origin, height) : ScaleAxis({frame, height})} width=${width}/>
      ${[...at.clients, ...at.brokers].map(({lane, x}) => html`<path key=${lane + x} class="life" d=${`M${x} 0V${height}`}/>`)}
      <path class="flight" d=${bars(messages, at, scale)}/>
      ${joins && html`<path class="joins" d=${joins.filter(Boolean).join("")}/>`}
      ${ordered.map(({one, outer, inner}) => html`<g key=${one.number + one.direction} class=${kinds(one, picked)} onClick=${() => pick(one)}
          onMouseEnter=${event => { event.currentTarget.firstChild.textContent = saying(one); }}><title>${spoken && saying(one)}</title>
        <path class="hit" d=${outer + inner}/><path d=${outer}/>${inner && html`<path class="inside" d=${inner}/>`}
        ${labelled.get(one).map(each => html`<${Label} key=${each.label.kind} ...${each}/>`)}</g>`)}
    </svg></svg>`;
}
