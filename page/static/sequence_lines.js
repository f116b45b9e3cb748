// The geometry of the sequence: where lanes stand, and the lines of a message.
import {waited} from "./sequence_text.js";
import {along, beside} from "./sequence_labels.js";
import {ms} from "./text.js";

export const GUTTER = 70, LATE_MS = 1;
const EDGE = 14, SLOTS = 6, SLOT = 3;

// where lanes stand: those of clients from the left edge on, those of brokers up to the right one
export function lanes(messages, width) {
  const side = .38 * (width - GUTTER - EDGE), left = GUTTER + side, right = width - EDGE - side;
  const of = (name, first, step) => [...new Set(messages.map(one => one[name]))].sort().map((lane, at, all) => ({lane, x: first(all.length) + at * step(all.length)}));
  const step = count => .8 * side / count;
  const clients = of("client", () => GUTTER + 10, step), brokers = of("broker", count => width - EDGE - (count - 1) * step(count), step);
  return {left, right, clients, brokers, client: new Map(clients.map(one => [one.lane, one.x])), broker: new Map(brokers.map(one => [one.lane, one.x])),
    room: {clients: 1.3 * step(clients.length), brokers: 1.3 * step(brokers.length)}};
}

// requests in flight, a bar each beside their client's lane: as many side by side as are pipelined
export function bars(messages, at, scale) {
  const busy = new Map(), each = new Map(messages.map(one => [one.number, one]));
  return [...each.values()].sort((a, b) => a.start - b.start).map(({client, start, end}) => {
    const slots = busy.get(client) ?? busy.set(client, []).get(client);
    const free = slots.findIndex(until => until <= start), slot = Math.min(free < 0 ? slots.length : free, SLOTS - 1);
    slots[slot] = end;
    return `M${at.client.get(client) - 2 - SLOT * slot} ${scale.at(start)}V${scale.at(end)}`;
  }).join("");
}

const drawn = lines => lines.map(([x1, y1, x2, y2]) => `M${x1} ${y1}L${x2} ${y2}`).join("");
const head = (x, y, sign) => [[x - 6 * sign, y - 3, x, y], [x - 6 * sign, y + 3, x, y]];
const cross = (x, y) => [[x - 5, y - 5, x + 5, y + 5], [x - 5, y + 5, x + 5, y - 5]];

// What a message draws: its lines outside of the proxy and inside of it, [x1, y1, x2, y2] each, the circle of one that
// the proxy made, and the horizontal lines at which its label may stand, the best one first.
function path(one, at, scale) {
  const asks = one.direction === "request", client = at.client.get(one.client), broker = at.broker.get(one.broker);
  const [from, enter, exit, to] = asks ? [client, at.left, at.right, broker] : [broker, at.right, at.left, client];
  const sign = Math.sign(to - from), middle = (enter + exit) / 2;
  const came = one.came === null ? null : scale.of(one, "came"), left = one.gone === null ? null : scale.of(one, "gone");
  const before = [from, came, enter, came], after = [exit, left, to, left];
  if (came === left) return {came, left, outside: [[from, came, to, came], ...head(to, left, sign)], inside: [], stems: [before, after, [from, came, to, came]]};
  if (came === null) {
    const circleX = exit + (enter - exit) / 4;
    return {came: left, left, outside: [after, ...head(to, left, sign)], inside: [[exit, left, circleX, left]], circle: [circleX, left], stems: [after]};
  }
  if (left !== null) return {came, left, outside: [before, after, ...head(to, left, sign)], inside: [[enter, came, exit, left]], stems: [before, after]};
  if (one.waits) return {came, left: scale.at(one.end), outside: [before], inside: [[enter, came, middle, scale.at(one.end)]], stems: [before]};
  return {came, left: came, outside: [before], inside: one.lost ? [[enter, came, middle, came], ...cross(middle, came)] : [[enter, came, to, came]], stems: [before]};
}

// messages whose lines would cover each other are drawn once, unless they are chosen
function sparse(paths, number) {
  const seen = new Set();
  return paths.filter(({one, came, left}) => {
    const outline = [one.direction, one.client, one.broker, one.lost, Boolean(one.error), Math.round(2 * came), Math.round(2 * left)].join();
    return one.number === number || !(seen.has(outline) || !seen.add(outline));
  });
}

// the messages that are between the top and the height, with `d` of their paths
export const paths = (messages, at, scale, height, number) => sparse(messages.map(one => ({one, ...path(one, at, scale)}))
  .filter(each => each.left >= 0 && each.came <= height), number).map(each => ({...each, outer: drawn(each.outside),
  inner: drawn(each.inside) + (each.circle ? `M${each.circle[0] - 3} ${each.circle[1]}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0` : "")}));

const round = ([x, y]) => [[x - 3, y - 3, x + 3, y + 3], [x - 3, y + 3, x + 3, y - 3]];

// what labels must not cross
export const obstacles = paths => paths.flatMap(each => [...each.outside, ...each.inside, ...each.circle ? round(each.circle) : []]);

// The labels of messages, of the chosen exchange first, then those of what is out of the ordinary: {one, kind, text,
// width, spots, must}. measure: Returns the width of a text.
export function labels(paths, [number, direction], measure) {
  const chosen = one => one.number === number && one.direction === direction;
  const weight = ({one}) => chosen(one) ? -1 : one.number === number ? 0 : one.error || one.rules.length || one.lost || waited(one) >= LATE_MS ? 1 : 2;
  return [...paths].sort((a, b) => weight(a) - weight(b)).flatMap(({one, stems, inside}) => {
    const name = `${one.api} ${one.correlation_id}`, wide = measure(name), late = waited(one);
    const named = {one, kind: "name", text: name, width: wide, spots: stems.flatMap(([x1, y, x2]) => along([x1, y, x2], wide)), must: chosen(one)};
    if (!(late >= LATE_MS) || !inside.length) return [named];
    const text = `+${ms(late)} ms${one.waits ? "…" : ""}`, width = measure(text);
    return [named, {one, kind: "wait", text, width, spots: beside(inside[0], width)}];
  });
}
