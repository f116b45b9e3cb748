// Lanes of a group's members over time, on bands for its generations. Pure: what is drawn is a tree of
// [tag, attributes, ...children], of which the page and the report make elements, each in its own way.
import {clock, ms, plain, plural, toMs} from "./text.js";

const LANE = 26, BAND = 34, AXIS = 22, TICKS = 4;
const PERIODS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 20e3, 30e3, 60e3, 120e3, 300e3, 600e3, 1200e3, 1800e3, 3600e3, 7200e3, 14400e3, 43200e3];
const LEGEND = ["JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit", "LeaveGroup", "ConsumerGroupHeartbeat", "join", "sync", "consuming", "stopped"];

// the API of Kafka whose colour an event has: a dialect names one for each of its APIs
const colorOf = each => each.color || each.api;
const over = each => toMs(each.end ?? each.start);

// [when the first event began, when the last one was over], ms since the epoch
export function spanOf(lanes) {
  const times = lanes.flatMap(lane => lane.events.flatMap(each => [toMs(each.start), over(each)]));
  return [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))];
}

// times of the axis, ms since the epoch, at most TICKS of them: [time, text], with the day where a period is long
function ticksOf(from, to) {
  const period = PERIODS.find(each => each >= (to - from) / TICKS) ?? 86400e3 * Math.ceil((to - from) / TICKS / 86400e3);
  const [begins, ends] = period < 1e3 ? [11, 23] : period < 43200e3 ? [11, 19] : [5, 16];
  const found = [];
  for (let time = Math.ceil(from / period) * period; time <= to; time += period) found.push([time, new Date(time).toISOString().slice(begins, ends).replace("T", " ")]);
  return found;
}

// the generations that waited for each member, and those that did so in vain: {late, absent} by member
function waitedFor(bands) {
  const found = new Map();
  for (const {generation, late: waited} of bands) {
    if (!waited || waited.kind === "untold") continue;
    for (const member of waited.members) {
      const of = found.get(member) ?? {late: [], absent: []};
      of[waited.kind].push(generation);
      found.set(member, of);
    }
  }
  return found;
}

// from, to: what is seen, ms since the epoch. opened: what a click on an event does, if anything
export function drawn({lanes, bands}, from, to, opened = null) {
  const width = Math.max(to - from, 1);
  const at = time => 100 * (time - from) / width;
  const part = (begins, ends, least = 0) => {
    const x = Math.max(0, begins);
    return {x: x + "%", width: Math.max(least, Math.min(100, ends) - x) + "%"};
  };
  const shown = lanes.filter(lane => lane.events.some(each => over(each) >= from && toMs(each.start) <= to));
  const waits = waitedFor(bands);
  const colors = new Map(shown.flatMap(lane => lane.events.map(each => [each.api, colorOf(each)])));
  const legend = [...LEGEND.filter(api => colors.has(api)), ...[...colors.keys()].filter(api => api !== colors.get(api) && !LEGEND.includes(api))];
  const height = BAND + LANE * shown.length;
  const tick = ([time, text]) => {
    const x = at(time), anchor = x < 12 ? "start" : x > 88 ? "end" : "middle";
    return ["g", {key: String(time), class: "tick"}, ["rect", {x: x + "%", y: BAND, width: 1, height: height - BAND}],
      ["text", {x: x + "%", y: height + AXIS - 7, "text-anchor": anchor}, text]];
  };
  const name = lane => {
    const of = waits.get(lane.member), said = plain(lane.instance ?? lane.client);
    const late = of?.late.length ? `, late in generation ${of.late.join(", ")}` : "";
    const missed = of?.absent.length ? `, missed generation ${of.absent.join(", ")}` : "";
    return ["div", {key: lane.member, class: of ? "late" : "", tabindex: 0, title: `${said}, ${plain(lane.member)}${late}${missed}`},
      said + (late ? " (late)" : "") + (missed ? " (missed one)" : "")];
  };
  const band = (one, number) => {
    const begins = at(toMs(one.from)), ends = one.until === null ? 100 : at(toMs(one.until));
    const still = at(toMs(one.from) + (one.standstill_ms ?? 0));
    if (ends <= 0 || begins >= 100) return [];
    return [["g", {key: one.from},
      ["title", {}, plain(`generation ${one.generation}: ${one.why}${one.waited_for ? ", waited for " + one.waited_for : ""}${one.standstill_ms ? `, delivery stood still for ${ms(one.standstill_ms)} ms` : ""}`)],
      ["rect", {class: `band b${number % 2}`, ...part(begins, ends), y: 0, height}],
      ...still > Math.max(0, begins) ? [["rect", {class: "still", ...part(begins, still), y: 0, height}]] : [],
      ["text", {x: Math.max(0, begins) + "%", dx: 4, y: 21}, String(one.generation ?? "")]]];
  };
  const event = (lane, row) => each => {
    const begins = at(toMs(each.start)), ends = at(over(each));
    if (ends < 0 || begins > 100) return [];
    const waited = ["JoinGroup", "join"].includes(each.api) && waits.get(lane.member)?.late.includes(each.generation);
    return [["rect", {key: `${each.start} ${each.api} ${each.correlation_id ?? ""}`, class: `event ${colorOf(each)}${each.error ? " error" : ""}${waited ? " waited" : ""}`,
      ...part(begins, ends, .25), y: BAND + row * LANE + 5, height: LANE - 10, rx: 2, ...opened && {onClick: () => opened(each)}},
      ["title", {}, plain(`${each.api}${each.count > 1 ? ` × ${each.count}` : ""} at ${clock(each.start)}, generation ${each.generation ?? "unknown"}${each.error ? ", " + each.error : ""}${each.reason ? ": " + each.reason : ""}`)]]];
  };
  return ["div", {class: "lanes", role: "group", "aria-label": "Lanes of members"},
    ["div", {class: "names"}, ["div", {class: "band"}, "generation"], ...shown.map(name)],
    ["svg", {height: height + AXIS, role: "img", "aria-label": `${plural(shown.length, "member")} from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}; the table below says the same`},
      ...bands.flatMap(band), ...ticksOf(from, to).map(tick), ...shown.map((lane, row) => ["g", {key: lane.member}, ...lane.events.flatMap(event(lane, row))])],
    ["p", {class: "legend"}, ...legend.map(api => ["span", {class: colors.get(api)}, api]), ["span", {class: "stood"}, "delivery stands still"], ["span", {class: "generations"}, "a generation, in one of two shades by turns"], ["span", {class: "utc"}, "times in UTC"]]];
}
