// A message of the sequence in words.
import {clock, ms, plain} from "./text.js";

// a row with its times as ns since an origin, that is, as numbers
export function timed(row, origin) {
  const at = time => time === null ? null : Number(BigInt(time) - origin);
  return {...row, came: at(row.arrived), gone: at(row.left), start: at(row.began), end: at(row.ended)};
}

export const waited = one => one.came === null || one.gone === null && !one.waits ? null : ((one.gone ?? one.end) - one.came) / 1e6;

// the capture has one side of the connection only
export const oneSided = messages => messages.length > 0 && messages.every(one => !one.left && !one.lost);
export const unknown = one => !one.left && !one.lost && !one.waits;

export function saying(one) {
  const late = waited(one), ends = one.direction === "request" ? [one.client, one.broker] : [one.broker, one.client];
  const times = [one.arrived && `arrived ${clock(one.arrived)}`, late === null ? one.left && `left ${clock(one.left)}` : one.waits ? `${ms(late)} ms so far` : late ? `left ${ms(late)} ms later` : "left at once", one.reason];
  const rest = [one.error, one.note !== one.reason && one.note, one.rules.length && `rules: ${one.rules.join(", ")}`];
  return plain(`${one.number < 0 ? "" : `#${one.number} `}${one.api} v${one.version} ${one.direction}, correlation id ${one.correlation_id}, ${ends.join(" → ")}: ${[...times, ...rest].filter(Boolean).join(", ")}`);
}
