// The lag of a group over time, below its lanes: the sum, and the partitions with the most.
import {count, plain, toMs} from "./text.js";
import {html} from "./vendor/preact.js";

const HEIGHT = 84, TOP = 18;

// a lag holds until the next sample: steps; none is drawn where it was not known
export function steps(times, lags, from, to, most) {
  const at = time => (100 * (Math.min(Math.max(time, from), to) - from) / Math.max(to - from, 1)).toFixed(3);
  const height = lag => (TOP + (HEIGHT - TOP - 2) * (1 - Number(lag) / Math.max(most, 1))).toFixed(1);
  let path = "", drawn = false;
  times.forEach((time, number) => {
    const lag = lags[number], next = times[number + 1] ?? to;
    if (lag === null || next < from || time > to) drawn = false;
    else {
      path += `${drawn ? "V" : `M${at(time)} `}${height(lag)}H${at(next)}`;
      drawn = true;
    }
  });
  return path;
}

export function LagPlot({series, from, to}) {
  if (!series.times.length) return "";
  const times = series.times.map(toMs), most = series.sum.reduce((a, b) => Math.max(a, Number(b)), 0);
  const name = one => `${plain(one.topic)}[${one.partition}]`;
  const lines = [{label: "lag", kind: "sum", lag: series.sum}, ...series.partitions.map((one, number) => ({label: name(one), kind: `p${number}`, lag: one.lag}))];
  const last = lag => lag.at(-1) === null ? "not known" : count(lag.at(-1));
  return html`<div class="lanes lag" role="group" aria-label="Lag over time">
    <div class="names">${lines.map(({label, kind, lag}) => html`<div key=${kind} class=${kind} tabindex="0" title=${`${label}: ${last(lag)} at the end`}>${label} <b>${last(lag)}</b></div>`)}</div>
    <svg height=${HEIGHT} role="img" aria-label=${`Lag of the group: at most ${count(most)}, ${last(series.sum)} at the end; the table below has the partitions`}>
      <svg viewBox=${`0 0 100 ${HEIGHT}`} width="100%" height=${HEIGHT} preserveAspectRatio="none">
        <path class="grid" d=${`M0 ${TOP}H100M0 ${HEIGHT - 2}H100`}/>
        ${lines.toReversed().map(({kind, lag}) => html`<path key=${kind} class=${kind} d=${steps(times, lag, from, to, most)}/>`)}</svg>
      <text x="2" y="12">${count(most)}</text></svg></div>`;
}
