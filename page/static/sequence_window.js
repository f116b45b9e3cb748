// The window of time that the sequence shows: [from, to) in ns since the epoch.
const LEAST = 1e3, MOST = 1e15;

const scale = (part, span) => BigInt(Math.round(part * Number(span)));

// a window with room around what happened
export function around(from, to, part = 4n) {
  const room = (to - from) / part + 50000n;
  return [from - room, to + room];
}

// the window around an exchange, from its row in the list
export function ofRow({ts, latency_ms}) {
  const start = BigInt(Date.parse(ts.slice(0, 23) + "Z")) * 1000000n + BigInt(ts.slice(23, 26)) * 1000n;
  return around(start, start + scale(latency_ms ?? 1, 1e6));
}

// a part of the window stays where it is, and all of it becomes so many times as wide
export function zoomed([from, to], times, part = .5) {
  const span = to - from, wide = scale(Math.min(Math.max(times, LEAST / Number(span)), MOST / Number(span)), span);
  const start = from + scale(part, span) - scale(part, wide);
  return [start, start + wide];
}

export const moved = ([from, to], part) => [from + scale(part, to - from), to + scale(part, to - from)];
