// A heat map: exchanges by time and latency. A cell leads to its exchanges.
import {show} from "./links.js";
import {useScheme} from "./scheme.js";
import {clock, count, ms, plural, toMs} from "./text.js";
import {html, useEffect, useRef, useState} from "./vendor/preact.js";

const HEIGHT = 260, LEAST = 1 / 64, MOST = LEAST * 2 ** 32, NEAR = 5;
const PERIODS = [.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400];
const lowest = bound => bound <= LEAST ? 0 : bound / Math.SQRT2;
const iso = time => new Date(time).toISOString().slice(0, 23);
const short = (value, digits) => String(Number(value.toPrecision(digits)));
const label = value => value === null ? "" : value >= 1000 ? `${count(Math.round(value / 1000))} s` : value >= .5 ? `${short(value, 3)} ms` : `${Math.round(1000 * value)} µs`;

// cell: [beginning, longest latency, count]. The last cell of a column has all longer latencies, too
export function filterOf([at, bound], width, column) {
  const from = toMs(at), range = [...bound > LEAST ? [`${column} > ${short(lowest(bound), 6)}`] : [], ...bound < MOST ? [`${column} <= ${short(bound, 6)}`] : []];
  return [`ts >= '${iso(from)}'`, `ts < '${iso(from + width)}'`, ...range].join(" && ");
}

export function HeatMap({heat, column}) {
  const box = useRef(), scheme = useScheme(), {cells, width_ms: width} = heat, [pointed, point] = useState(null);
  const total = cells.reduce((sum, cell) => sum + cell[2], 0);
  useEffect(() => {
    if (!cells.length) return undefined;
    const plot = draw(box.current, cells, width, cell => show(filterOf(cell, width, column)), point);
    const resized = new ResizeObserver(() => plot.setSize({width: box.current.clientWidth, height: HEIGHT}));
    resized.observe(box.current);
    return () => {
      resized.disconnect();
      plot.destroy();
      point(null);
    };
  }, [total, cells[0]?.join(), width, column, scheme]);
  const about = !cells.length ? "No latency yet." : !pointed ? `The stronger the colour, the more exchanges of that latency in ${width} ms from ${clock(cells[0][0])} on. A click on a cell shows its exchanges.`
    : `${plural(pointed[2], "exchange")} from ${clock(pointed[0])} on, ${width} ms, of ${ms(lowest(pointed[1]))} to ${ms(pointed[1])} ms`;
  return html`<figure><div class="heat" ref=${box} role="img" aria-label=${`${count(total)} exchanges by time and latency; the table below has the percentiles`}></div>
    <figcaption>${about}</figcaption></figure>`;
}

function draw(box, cells, width, open, point) {
  const times = cells.map(([at]) => toMs(at) / 1000), start = Math.min(...times), end = Math.max(...times) + width / 1000;
  const bounds = cells.map(cell => cell[1]), largest = cells.reduce((most, cell) => Math.max(most, cell[2]), 1);
  const ink = getComputedStyle(box.parentElement).color, {color} = getComputedStyle(box);
  const axis = {stroke: ink, grid: {show: false}, ticks: {stroke: ink, width: .5}};
  let places = [];  // of the cells: left, right, top, bottom in CSS pixels
  const place = ([, bound], number, plot) => [plot.valToPos(times[number], "x"), plot.valToPos(times[number] + width / 1000, "x"), plot.valToPos(bound, "y"), plot.valToPos(bound / Math.SQRT2, "y")];
  // a cell may be a pixel wide: the nearest one counts
  const under = ({cursor: {left: x, top: y}}) => {
    let nearest = null, least = NEAR;
    places.forEach(([left, right, top, low], number) => {
      const away = Math.max(left - x, x - right, top - y, y - low, 0);
      if (away < least) [nearest, least] = [cells[number], away];
    });
    return nearest;
  };
  const drawn = plot => {
    const {ctx, bbox: {left: x, top: y}} = plot, ratio = devicePixelRatio;
    places = cells.map((cell, number) => place(cell, number, plot));
    ctx.save();
    ctx.fillStyle = color;
    places.forEach(([left, right, top, low], number) => {
      ctx.globalAlpha = .25 + .75 * Math.log1p(cells[number][2]) / Math.log1p(largest);
      ctx.fillRect(x + left * ratio, y + top * ratio, Math.max(1, right - left) * ratio, Math.max(1, low - top - 1) * ratio);
    });
    ctx.restore();
  };
  return new uPlot({
    tzDate: at => uPlot.tzDate(new Date(1000 * at), "UTC"), width: box.clientWidth, height: HEIGHT, legend: {show: false}, padding: [14, 40, 0, 0],
    cursor: {x: false, y: false, points: {show: false}, drag: {x: false, y: false}},
    scales: {x: {range: [start, end]}, y: {distr: 3, log: 2, range: [Math.min(...bounds) / 2, Math.max(...bounds) * 1.5]}},
    series: [{}, {paths: () => null, points: {show: false}}],
    axes: [{...axis, size: 36, space: 90, incrs: PERIODS, values: (_, ticks) => ticks.map(at => new Date(1000 * at).toISOString().slice(11, ticks[1] - ticks[0] < 1 ? 23 : 19))},
      {...axis, size: 66, values: (_, values) => values.map(label)}],
    hooks: {
      draw: [drawn],
      setCursor: [plot => {
        const cell = under(plot);
        plot.over.style.cursor = cell ? "pointer" : "";
        point(cell);
      }],
      ready: [plot => plot.over.addEventListener("click", () => {
        const cell = under(plot);
        if (cell) open(cell);
      })],
    },
  }, [[start, end], [1, 1]], box);
}
