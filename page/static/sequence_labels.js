// Places labels in free space: a label crosses no line and no other label, or is left out.
export const HEIGHT = 12;
const GAP = 2, CLEAR = 1, ROW = 16;

// Boxes and lines by the rows of pixels that they touch, so that a label is compared with its neighbours only.
class Rows {
  rows = new Map();

  add(top, bottom, thing) {
    for (let row = Math.floor(top / ROW); row <= Math.floor(bottom / ROW); row++) (this.rows.get(row) ?? this.rows.set(row, []).get(row)).push(thing);
  }

  some(top, bottom, test) {
    for (let row = Math.floor(top / ROW); row <= Math.floor(bottom / ROW); row++) if (this.rows.get(row)?.some(test)) return true;
    return false;
  }
}

// Whether a line [x1, y1, x2, y2] touches a box {x, y, width, height}, by Liang and Barsky: lines have a width.
export function meets([x1, y1, x2, y2], {x, y, width, height}) {
  let enter = 0, exit = 1;
  for (const [step, room] of [[x1 - x2, x1 - x], [x2 - x1, x + width - x1], [y1 - y2, y1 - y + CLEAR], [y2 - y1, y + height + CLEAR - y1]]) {
    if (step === 0 && room < 0) return false;
    if (step < 0) enter = Math.max(enter, room / step);
    else if (step > 0) exit = Math.min(exit, room / step);
  }
  return enter <= exit;
}

const overlap = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

// lines: all that labels must not cross; labels: [{width, spots: [{x, y}, …]}], the most important first, where x, y is
// the left upper corner of a box; a label that `must` be there takes the first one if none is free; bounds: {left, right,
// top, bottom}. Returns a box or null for each label.
export function place(lines, labels, bounds) {
  const crossed = new Rows(), taken = new Rows();
  for (const line of lines) {
    const [top, bottom] = [Math.min(line[1], line[3]), Math.max(line[1], line[3])];
    if (bottom >= bounds.top && top <= bounds.bottom) crossed.add(Math.max(top, bounds.top), Math.min(bottom, bounds.bottom), line);
  }
  const take = box => {
    taken.add(box.y, box.y + HEIGHT, box);
    return box;
  };
  return labels.map(({width, spots, must}) => {
    for (const {x, y} of spots) {
      const box = {x, y, width, height: HEIGHT};
      if (x < bounds.left || x + width > bounds.right || y < bounds.top || y + HEIGHT > bounds.bottom) continue;
      if (crossed.some(y - CLEAR, y + HEIGHT + CLEAR, line => meets(line, box)) || taken.some(y, y + HEIGHT, other => overlap(other, box))) continue;
      return take(box);
    }
    return must && spots.length ? take({...spots[0], width, height: HEIGHT}) : null;
  });
}

// Spots for a label at the horizontal line [x1, y, x2]: at its start, then at its end; above it, then below it.
export function along([x1, y, x2], width) {
  const left = Math.min(x1, x2) + 8, right = Math.max(x1, x2) - 8 - width;
  if (right < left) return [];
  const starts = x1 < x2 ? [left, right] : [right, left];
  return [y - HEIGHT - GAP, y + GAP].flatMap(top => starts.map(x => ({x, y: top})));
}

// Spots for a label at a slope: beside its middle on both sides, further off the steeper it is, then at its ends.
export function beside([x1, y1, x2, y2], width) {
  const middle = (x1 + x2) / 2, top = Math.min(y1, y2), bottom = Math.max(y1, y2), y = (y1 + y2) / 2;
  const lean = Math.abs(y2 - y1) / Math.max(1, Math.abs(x2 - x1)) * width / 2 + GAP;
  const left = Math.min(x1, x2) + 6, right = Math.max(x1, x2) - 6 - width;
  return [{x: middle - width / 2, y: y - lean - HEIGHT}, {x: middle - width / 2, y: y + lean},
    {x: left, y: bottom - HEIGHT - GAP}, {x: right, y: bottom - HEIGHT - GAP}, {x: left, y: top + GAP}, {x: right, y: top + GAP},
    {x: middle - width / 2, y: top - HEIGHT - GAP}, {x: middle - width / 2, y: bottom + GAP}];
}
