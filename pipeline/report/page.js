// draws the figures in the page's colours, initially and when the filter or the colour scheme changes
import {listen, marksOf, matches, note, picked, times, within, zoom} from "./filter.js";
import {drawn, spanOf} from "./lanes.js";

const {figures, lanes} = JSON.parse(document.getElementById("figures").textContent);
const chosen = {};

// a token's text has the colours of both schemes: as an element's colour it is the present one
function colours() {
  const probe = document.body.appendChild(document.createElement("i"));
  const names = ["text", "dim", "card", "line", "cold", "warm"];
  const found = names.map(name => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(found);
}

function axis(own, of) {
  return {gridcolor: of.line, linecolor: of.line, zerolinecolor: of.line, automargin: true, ...own};
}

function short(text, most) {
  const characters = text.match(/&#?\w+;|[^]/gu) ?? []; // an escaped character counts as one
  if (characters.length <= most) return text;
  return [...characters.slice(0, most / 2 - 1), "…", ...characters.slice(-most / 2)].join("");
}

// names at an axis are shortened to their share of the width; a bar's tooltip has the whole name
function names(own, data, width) {
  if (!own?.categoryarray) return own;
  const all = [...new Set(data.flatMap(trace => trace.y))].filter(one => one !== null);
  const most = width < 500 ? 16 : 40;
  // traces that the filter removes take no space
  const categoryarray = own.categoryarray.filter(one => all.includes(one));
  return {tickmode: "array", tickvals: all, ticktext: all.map(one => short(one, most)), ...own, categoryarray};
}

function draw(name) {
  const figure = figures[name], of = colours(), element = document.getElementById(name);
  const choice = chosen[name] ?? figure.choices[0];
  const all = figure.data.map((trace, at) => [trace, figure.of[at]]).filter(([trace]) => !trace.meta || trace.meta === choice);
  const left = all.map(([trace, marks]) => picked(trace, marks)).filter(Boolean).slice(0, figure.most ?? Infinity);
  const data = left.map(trace =>
    trace.type === "heatmap"
      ? {...trace, colorscale: [[0, of.cold], [1, of.warm]],
         colorbar: {...trace.colorbar, outlinewidth: 0, tickfont: {color: of.dim}}}
      : trace);
  const named = all.filter(([trace]) => trace.showlegend !== false && trace.type !== "heatmap");
  const legend = figure.layout.showlegend ?? named.length > 1;
  const marks = marksOf(figure.of), isTime = figure.layout.xaxis?.type === "date";
  if (isTime) marks.add("time");
  note(element, marks, !data.length);
  if (figure.layout.yaxis?.categoryarray) { // bars keep their height
    const places = traces => Math.max(2, new Set(traces.flatMap(trace => trace.y)).size);
    element.style.height = `${figure.height - 26 * (places(all.map(([trace]) => trace)) - places(data))}px`;
  }
  const layout = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: {family: "system-ui, sans-serif", size: 12, color: of.dim},
    margin: {l: 55, r: 15, t: legend ? 40 : 12, b: 40},
    hoverlabel: {bgcolor: of.card, bordercolor: of.line, font: {color: of.text}, align: "left"},
    showlegend: legend, legend: {orientation: "h", x: 0, y: 1, yanchor: "bottom"},
    ...figure.layout,
    xaxis: axis({...figure.layout.xaxis, ...isTime && times() && {range: times().map(at => new Date(at).toISOString().slice(0, -1))}}, of),
    yaxis: axis(names(figure.layout.yaxis, data, element.clientWidth), of),
  };
  return Plotly.react(name, data, layout, {
    displayModeBar: false, responsive: true, plotlyServerURL: "",
  });
}

// plotly's times are texts without a time zone, or numbers
const instantOf = at => typeof at === "number" ? at : Date.parse(at.replace(" ", "T") + "Z");

// zooming to a time span applies it to all sections
function follow(name) {
  if (figures[name].layout.xaxis?.type !== "date") return;
  const plot = document.getElementById(name);
  plot.on("plotly_relayout", changed => {
    if (changed["xaxis.autorange"]) zoom(null, null);
    // the event may have one end, or both in a list; the plot has both
    else if (Object.keys(changed).some(key => key.startsWith("xaxis.range"))) zoom(...plot.layout.xaxis.range.map(instantOf));
  });
}

const SVG = document.createRange().createContextualFragment("<svg/>").firstChild.namespaceURI;
const PARTS = new Set(["svg", "g", "rect", "text", "title"]);

function element(node) {
  if (typeof node === "string") return node;
  const [tag, {key, ...attributes}, ...children] = node;
  const made = PARTS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.map(element));
  return made;
}

function drawLanes(name) {
  const group = lanes[name], box = document.getElementById(name);
  const [from, to] = within(...spanOf(group.lanes));
  const left = group.lanes.filter(lane => matches({group: lane.group, client: lane.client}));
  const shown = from <= to && left.length > 0;
  box.replaceChildren(...shown ? [element(drawn({lanes: left, bands: group.bands}, from, to))] : []);
  note(box, new Set(["group", "client", "time"]), !shown);
}

function choose(button) {
  chosen[button.dataset.plot] = button.dataset.choice;
  for (const other of button.parentElement.children) {
    other.setAttribute("aria-pressed", String(other === button));
  }
  return draw(button.dataset.plot);
}

function drawAll() {
  Object.keys(lanes).forEach(drawLanes);
  return Promise.all(Object.keys(figures).map(draw));
}

for (const button of document.querySelectorAll("button[data-plot]")) {
  button.addEventListener("click", () => choose(button));
}
listen(drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
for (const choice of document.querySelectorAll("[name=scheme]")) {
  choice.addEventListener("change", drawAll);
}
drawAll().then(() => {
  Object.keys(figures).forEach(follow);
  document.body.dataset.drawn = String(Object.keys(figures).length);
});
