// Latency: percentiles by API, and how many exchanges took how long over time.
import {usePolled} from "./polled.js";
import {problems, Table} from "./table.js";
import {clock, count, ms, toMs} from "./text.js";
import {html, useEffect, useRef, useState} from "./vendor/preact.js";

const SIDES = [["client", "as clients saw it"], ["broker", "the brokers alone"]];

export function Latency() {
  const [found, problem] = usePolled("/latency", 2000);
  const [side, choose] = useState("client");
  return html`<div class="view"><div class="bar">${SIDES.map(([name, label]) => html`
      <button aria-pressed=${String(side === name)} onClick=${() => choose(name)}>${label}</button>`)}</div>
    ${problems(found, problem)}
    ${found && html`<${HeatMap} heat=${found[side].heat}/>
      <${Table} label="Percentiles" none="No response has been seen." rows=${found[side].apis} columns=${[
        ["API", row => row.api], ["exchanges", row => count(row.count), "number"], ["p50 ms", row => ms(row.p50_ms), "number"],
        ["p99 ms", row => ms(row.p99_ms), "number"], ["longest ms", row => ms(row.max_ms), "number"]]}/>`}</div>`;
}

function HeatMap({heat}) {
  const box = useRef(), {cells, width_ms} = heat;
  useEffect(() => {
    if (!cells.length) return undefined;
    const times = cells.map(([at]) => toMs(at) / 1000), start = Math.min(...times), end = Math.max(...times) + width_ms / 1000;
    const longest = cells.reduce((most, cell) => Math.max(most, cell[2]), 1);
    const ink = getComputedStyle(box.current).color;
    const plot = new uPlot({
      tzDate: at => uPlot.tzDate(new Date(1000 * at), "UTC"), width: box.current.clientWidth, height: 260, legend: {show: false}, cursor: {show: false},
      scales: {x: {range: [start, end]}, y: {distr: 3, log: 2, range: [1 / 64, Math.max(...cells.map(cell => cell[1])) * 1.5]}},
      series: [{}, {paths: () => null, points: {show: false}}],
      axes: [{stroke: ink, grid: {show: false}, values: (_, times) => times.map(at => new Date(1000 * at).toISOString().slice(11, times[1] - times[0] < 1 ? 23 : 19))}, {stroke: ink, grid: {show: false}, size: 70, values: (_, values) => values.map(value => value === null ? "" : value >= 1 ? `${value} ms` : `${value.toFixed(2)} ms`)}],
      hooks: {draw: [drawn => {
        for (const [at, bound, each] of cells) {
          const left = drawn.valToPos(toMs(at) / 1000, "x", true), right = drawn.valToPos((toMs(at) + width_ms) / 1000, "x", true);
          const top = drawn.valToPos(bound, "y", true), low = drawn.valToPos(bound / Math.SQRT2, "y", true);
          drawn.ctx.fillStyle = `hsl(212 90% 50% / ${.2 + .8 * Math.log1p(each) / Math.log1p(longest)})`;
          drawn.ctx.fillRect(left, top, Math.max(1, right - left), Math.max(1, low - top));
        }
      }]},
    }, [[start, end], [1, 1]], box.current);
    const resized = new ResizeObserver(() => plot.setSize({width: box.current.clientWidth, height: 260}));
    resized.observe(box.current);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [cells.length, cells.at(-1)?.join(), width_ms]);
  return html`<figure><div ref=${box} role="img" aria-label="Exchanges by time and latency; the table below has the percentiles"></div>
    <figcaption>${cells.length ? `Darker: more exchanges of that latency in ${width_ms} ms from ${clock(cells[0][0])} on.` : "No latency yet."}</figcaption></figure>`;
}
