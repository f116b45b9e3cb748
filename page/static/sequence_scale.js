// Where times stand in the sequence, in pixels from the top: to scale, or a row for each event. A scale has `of`, the
// place of a message's arrival ("came") or departure ("gone"), and `at`, the place of any time (ns since the origin).
export const ROW = 24;

export function toScale(start, span, height) {
  const at = time => (time - start) / span * height;
  return {at, of: (one, event) => at(one[event]), rows: null};
}

// Rows for all events, and the scale of those that are shown when `offset` pixels are scrolled away.
export function byStep(messages) {
  const rows = messages.flatMap(one => [["came", one.came], ["gone", one.gone]]
    .filter(([event, time]) => time !== null && !(event === "gone" && one.came === time)).map(([event, time]) => ({one, event, time})));
  rows.sort((a, b) => a.time - b.time);
  const places = new Map(rows.map(({one, event}, row) => [key(one, event), row]));
  // the first row at this time or later; the end of what waits is after all rows
  const row = time => {
    let low = 0, high = rows.length;
    while (low < high) {
      const middle = low + high >> 1;
      if (rows[middle].time < time) low = middle + 1;
      else high = middle;
    }
    return low === rows.length ? low - .5 : low;
  };
  const from = offset => {
    const y = row => (row + 1) * ROW - offset;
    return {at: time => y(row(time)), of: (one, event) => y(places.get(key(one, event)) ?? places.get(key(one, "came"))),
      rows: rows.map(({time}, place) => ({time, y: y(place)}))};
  };
  return {from, height: (rows.length + 1) * ROW};
}

const key = (one, event) => `${one.number} ${one.direction} ${event}`;
