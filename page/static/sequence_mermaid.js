// The sequence as text of Mermaid (sequenceDiagram): clients, barnabas and brokers, an arrow for each way of a message.
import {LATE_MS} from "./sequence_lines.js";
import {oneSided, unknown, waited} from "./sequence_text.js";
import {ms, plain} from "./text.js";

const CODES = {"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;", "%": "#37;"};
const escaped = text => plain(text).replace(/[#;<>%]/g, sign => CODES[sign]);

const title = one => `${one.api} v${one.version} (${one.correlation_id})`;
const delayed = one => waited(one) >= LATE_MS;
const changed = one => delayed(one) || one.lost || one.came === null;

// The remarks on a message: each is made once for an exchange, and rules where they had an effect.
function remarker(messages) {
  const changing = new Set(messages.filter(changed).map(one => one.number)), made = new Set();
  return one => [
    delayed(one) && (one.waits ? `waits for ${ms(waited(one))} ms so far` : `${ms(waited(one))} ms in barnabas`),
    one.rules.length && (changed(one) || !changing.has(one.number)) && `rules: ${one.rules.join(", ")}`, one.reason,
  ].filter(text => text && !made.has(one.number + text) && made.add(one.number + text)).join(", ");
}

export function mermaid(messages) {
  const ids = (kind, field) => new Map([...new Set(messages.map(one => one[field]))].sort().map((name, at) => [name, kind + (at + 1)]));
  const clients = ids("client", "client"), brokers = ids("broker", "broker"), direct = oneSided(messages);
  const participant = ([name, id]) => `  participant ${id} as ${escaped(name || "unknown")}`;
  const remarks = remarker(messages);
  const events = messages.flatMap(one => {
    const asks = one.direction === "request", ends = [clients.get(one.client), brokers.get(one.broker)], [from, to] = asks ? ends : ends.reverse();
    const name = escaped([title(one), one.error].filter(Boolean).join(" ")), line = asks ? "-" : "--", note = remarks(one);
    const notes = note ? [`  Note over barnabas: ${escaped(note)}`] : [];
    if (direct || unknown(one)) return [{time: one.came ?? one.start, lines: [`  ${from}${line}>>${to}: ${name}`]}];
    const arrival = {time: one.came, lines: [`  ${from}${line}${one.lost ? "x" : ">>"}barnabas: ${name}`, ...one.gone === null ? notes : []]};
    const departure = {time: one.gone, lines: [...notes, `  barnabas${line}>>${to}: ${name}`]};
    return [one.came !== null && arrival, one.gone !== null && departure].filter(Boolean);
  });
  // what is known of an exchange only, such as that there was no response, stands at its end
  const ended = new Map(messages.filter(one => one.note && !direct).map(one => [one.number, one]));
  for (const one of messages) if (one.reason === one.note) ended.delete(one.number);
  for (const one of ended.values()) events.push({time: one.end, lines: [`  Note over barnabas: ${escaped(`${title(one)}: ${one.note}`)}`]});
  events.sort((a, b) => a.time - b.time);
  return ["sequenceDiagram", ...[...clients].map(participant), ...direct ? [] : ["  participant barnabas"], ...[...brokers].map(participant),
    ...events.flatMap(each => each.lines)].join("\n") + "\n";
}
