// The lines of the sequence: time goes down, clients stand left of the proxy and brokers right of it. A message
// enters the proxy's band when it arrived and comes out of it when it left: what waits there is a slope.
import {clock, ms, plain} from "./text.js";
import {html} from "./vendor/preact.js";

const TOP = 36, GUTTER = 70, EDGE = 14, LABEL = 12, SLOTS = 6, SLOT = 3, LATE_MS = 1;
const STEPS = Array.from({length: 16}, (_, power) => [1, 2, 5].map(each => each * 10 ** power)).flat();

// a row with its times as ns since an origin, that is, as numbers
export function timed(row, origin) {
  const at = time => time === null ? null : Number(BigInt(time) - origin);
  return {...row, came: at(row.arrived), gone: at(row.left), start: at(row.began), end: at(row.ended)};
}
export const waited = one => one.came === null || one.gone === null && !one.waits ? null : ((one.gone ?? one.end) - one.came) / 1e6;

const fitting = (name, room) => {
  const most = Math.max(2, Math.floor(room / 7)), short = name.replace(/^broker /, "b");
  return name.length <= most ? name : short.length <= most ? short : "…" + name.slice(1 - most);
};

// where lanes stand: those of clients from the left edge on, those of brokers up to the right one
function lanes(messages, width) {
  const side = .38 * (width - GUTTER - EDGE), left = GUTTER + side, right = width - EDGE - side;
  const of = (name, first, step) => [...new Set(messages.map(one => one[name]))].sort().map((lane, at, all) => ({lane, x: first(all.length) + at * step(all.length)}));
  const step = count => .8 * side / count;
  const clients = of("client", () => GUTTER + 10, step), brokers = of("broker", count => width - EDGE - (count - 1) * step(count), step);
  return {left, right, clients, brokers, client: new Map(clients.map(one => [one.lane, one.x])), broker: new Map(brokers.map(one => [one.lane, one.x])),
    room: {clients: 1.3 * step(clients.length), brokers: 1.3 * step(brokers.length)}};
}

// requests in flight, a bar each beside their client's lane: as many side by side as are pipelined
function bars(messages, at, y) {
  const busy = new Map(), each = new Map(messages.map(one => [one.number, one]));
  return [...each.values()].sort((a, b) => a.start - b.start).map(({client, start, end}) => {
    const slots = busy.get(client) ?? busy.set(client, []).get(client);
    const free = slots.findIndex(until => until <= start), slot = Math.min(free < 0 ? slots.length : free, SLOTS - 1);
    slots[slot] = end;
    return `M${at.client.get(client) - 2 - SLOT * slot} ${y(start)}V${y(end)}`;
  }).join("");
}

// what a message draws: its lines outside of the proxy, the one inside if it is another, and where its label stands
function path(one, at, y) {
  const asks = one.direction === "request", client = at.client.get(one.client), broker = at.broker.get(one.broker);
  const [from, enter, exit, to] = asks ? [client, at.left, at.right, broker] : [broker, at.right, at.left, client];
  const way = Math.sign(to - from), middle = (enter + exit) / 2;
  const came = one.came === null ? null : y(one.came), left = one.gone === null ? null : y(one.gone), head = `m${-6 * way} -3l${6 * way} 3l${-6 * way} 3`;
  const before = `M${from} ${came}H${enter}`, behind = `M${exit} ${left}H${to}${head}`;
  const [outside, inside] = came === left ? [`M${from} ${came}H${to}${head}`]
    : came === null ? [behind, `M${exit} ${left}H${exit + (enter - exit) / 4}m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0`]
    : left !== null ? [before + behind, `M${enter} ${came}L${exit} ${left}`]
    : one.waits ? [before, `M${enter} ${came}L${middle} ${y(one.end)}`]
    : [before, one.lost ? `M${enter} ${came}H${middle}m-5 -5l10 10m0 -10l-10 10` : `M${enter} ${came}H${to}`];
  return {one, outside, inside, came: came ?? left, left: left ?? (one.waits ? y(one.end) : came), middle, beside: asks || !(one.lost || one.waits), label: asks ? came : left ?? came};
}

export function saying(one) {
  const late = waited(one), ends = one.direction === "request" ? [one.client, one.broker] : [one.broker, one.client];
  const times = [one.arrived && `arrived ${clock(one.arrived)}`, late === null ? one.left && `left ${clock(one.left)}` : one.waits ? `${ms(late)} ms so far` : late ? `left ${ms(late)} ms later` : "left at once", one.reason];
  const rest = [one.error, one.note !== one.reason && one.note, one.rules.length && `rules: ${one.rules.join(", ")}`];
  return plain(`${one.number < 0 ? "" : `#${one.number} `}${one.api} v${one.version} ${one.direction}, correlation id ${one.correlation_id}, ${ends.join(" → ")}: ${[...times, ...rest].filter(Boolean).join(", ")}`);
}

function Axis({frame, height, width}) {
  const span = Number(frame[1] - frame[0]), least = 48 / height * span, step = STEPS.find(each => each >= least) ?? STEPS.at(-1);
  const marks = [];
  for (let time = (frame[0] / BigInt(step) + 1n) * BigInt(step); time < frame[1]; time += BigInt(step)) marks.push(time);
  const digits = step >= 1e9 ? 0 : step >= 1e6 ? 3 : step >= 1e3 ? 6 : 9;
  const text = time => digits ? `${clock(time).slice(6, 8)}.${String(time % 1000000000n).padStart(9, "0").slice(0, digits)}` : clock(time).slice(0, 8);
  return marks.map(time => {
    const y = Number(time - frame[0]) / span * height;
    return y > 8 && y < height - 4 && html`<g key=${String(time)} class="mark"><path d=${`M${GUTTER - 6} ${y}H${width}`}/><text x=${GUTTER - 8} y=${y + 4} text-anchor="end">${text(time)}</text></g>`;
  });
}

const Names = ({lanes, room, kind, edge}) => lanes.map(({lane, x}, at) => html`<g key=${kind + lane} class="lane ${kind}"><title>${plain(lane || "unknown")}</title>
  <text x=${at === edge ? x + (kind === "brokers" ? 8 : -8) : x} y=${at % 2 ? 28 : 13} text-anchor=${at === edge ? (kind === "brokers" ? "end" : "start") : "middle"}>${plain(fitting(lane || "unknown", room))}</text></g>`);

// messages whose lines would cover each other are drawn once, unless they are chosen
function sparse(drawn, number) {
  const seen = new Set();
  return drawn.filter(({one, came, left}) => {
    const place = [one.direction, one.client, one.broker, one.lost, Boolean(one.error), Math.round(2 * came), Math.round(2 * left)].join();
    return one.number === number || !(seen.has(place) || !seen.add(place));
  });
}

// messages: `timed`, since `origin`; frame: from and to, in ns; picked: [number, direction] of the one that is chosen
export function Chart({messages, origin, frame, picked, pick, width, height: whole}) {
  const height = Math.max(50, whole - TOP), span = Number(frame[1] - frame[0]), start = Number(frame[0] - origin);
  const y = time => (time - start) / span * height;
  const at = lanes(messages, width), labels = {near: [], far: [], late: []};
  const fits = (column, y) => y >= LABEL && y < height && !labels[column].some(other => Math.abs(other - y) < LABEL) && labels[column].push(y);
  const mates = messages.filter(one => one.number === picked[0]), [mate] = mates;
  const asked = mates.find(one => one.direction === "request"), answered = mates.find(one => one.direction === "response");
  const drawn = sparse(messages.map(one => path(one, at, y)).filter(each => each.left >= 0 && each.came <= height), picked[0]);
  // where there is room for one label only, it is that of the exchange that is chosen
  for (const each of [...drawn].sort((a, b) => (b.one.number === picked[0]) - (a.one.number === picked[0]))) {
    each.named = fits(each.beside ? "near" : "far", each.label);
    each.told = waited(each.one) >= LATE_MS && fits("late", (each.came + each.left) / 2);
  }
  return html`<svg width=${width} height=${whole} role="img" aria-label=${`${messages.length} messages between ${at.clients.length} clients, the proxy and ${at.brokers.length} brokers; the table has them as text`}>
    <${Names} kind="clients" lanes=${at.clients} room=${at.room.clients} edge=${0}/>
    <text class="lane" x=${(at.left + at.right) / 2} y="13" text-anchor="middle">${messages.length && messages.every(one => !one.left && !one.lost) ? "captured here" : "proxy"}</text>
    <${Names} kind="brokers" lanes=${at.brokers} room=${at.room.brokers} edge=${at.brokers.length - 1}/>
    <svg y=${TOP} width=${width} height=${height}>
      <rect class="proxy" x=${at.left} y="0" width=${at.right - at.left} height=${height}/>
      <${Axis} frame=${frame} height=${height} width=${width}/>
      ${[...at.clients, ...at.brokers].map(({lane, x}) => html`<path key=${lane + x} class="life" d=${`M${x} 0V${height}`}/>`)}
      <path class="flight" d=${bars(messages, at, y)}/>
      ${mate && html`<path class="joins" d=${[
        `M${at.client.get(mate.client)} ${y(mate.start)}V${y(answered?.gone ?? mate.end)}`,
        asked?.left && answered?.arrived && `M${at.broker.get(mate.broker)} ${y(asked.gone)}V${y(answered.came)}`,
      ].filter(Boolean).join("")}/>`}
      ${drawn.map(({one, outside, inside, came, left, middle, beside, label, named, told}) => {
        const late = waited(one) ?? 0, chosen = one.number === picked[0];
        const kinds = ["message", one.direction, one.error && "error", one.rules.length && "by-rule", late >= LATE_MS && "late", one.lost && "lost", !one.left && !one.lost && !one.waits && "unknown",
          chosen && (one.direction === picked[1] ? "picked" : "mate")];
        const text = `${one.api} ${one.correlation_id}`;
        return html`<g key=${one.number + one.direction} class=${kinds.filter(Boolean).join(" ")} onClick=${() => pick(one)}
            onMouseEnter=${event => { event.currentTarget.firstChild.textContent = saying(one); }}><title/>
          <path class="hit" d=${outside + (inside ?? "")}/><path d=${outside}/>${inside && html`<path class="inside" d=${inside}/>`}
          ${named && html`<text x=${beside ? at.left - 4 : at.right + 4} y=${label - 2} text-anchor=${beside ? "end" : "start"}>${text}</text>`}
          ${told && html`<text x=${middle} y=${(came + left) / 2} text-anchor="middle">${`+${ms(late)} ms${one.waits ? "…" : ""}`}</text>`}</g>`;
      })}
    </svg></svg>`;
}
