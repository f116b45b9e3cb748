"use strict";
// draws the figures with the page's own colours, now and whenever the reader turns the lights on or off
const figures = JSON.parse(document.getElementById("figures").textContent);
const chosen = {};

function colours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["ink", "soft", "grid", "card", "line", "cold", "warm"];
  return Object.fromEntries(names.map(name => [name, style.getPropertyValue("--" + name).trim()]));
}

function axis(own, of) {
  return {gridcolor: of.grid, linecolor: of.line, zerolinecolor: of.line, automargin: true, ...own};
}

function short(text, most) {
  const characters = text.match(/&#?\w+;|[^]/gu) ?? []; // what is escaped is one
  if (characters.length <= most) return text;
  return [...characters.slice(0, most / 2 - 1), "…", ...characters.slice(-most / 2)].join("");
}

// names at an axis take no more than their share; whoever points at a bar reads all of its name
function names(own, data, width) {
  if (!own?.categoryarray) return own;
  const all = [...new Set(data.flatMap(trace => trace.y))].filter(one => one !== null);
  const most = width < 500 ? 16 : 40;
  return {tickmode: "array", tickvals: all, ticktext: all.map(one => short(one, most)), ...own};
}

function draw(name) {
  const figure = figures[name], of = colours();
  const choice = chosen[name] ?? figure.choices[0];
  const data = figure.data.filter(trace => !trace.meta || trace.meta === choice).map(trace =>
    trace.type === "heatmap"
      ? {...trace, colorscale: [[0, of.cold], [1, of.warm]],
         colorbar: {...trace.colorbar, outlinewidth: 0, tickfont: {color: of.soft}}}
      : trace);
  const named = data.filter(trace => trace.showlegend !== false && trace.type !== "heatmap");
  const legend = figure.layout.showlegend ?? named.length > 1;
  const layout = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: {family: "system-ui, sans-serif", size: 12, color: of.soft},
    margin: {l: 55, r: 15, t: legend ? 40 : 12, b: 40},
    hoverlabel: {bgcolor: of.card, bordercolor: of.line, font: {color: of.ink}, align: "left"},
    showlegend: legend, legend: {orientation: "h", x: 0, y: 1, yanchor: "bottom"},
    ...figure.layout,
    xaxis: axis(figure.layout.xaxis, of),
    yaxis: axis(names(figure.layout.yaxis, data, document.getElementById(name).clientWidth), of),
  };
  return Plotly.react(name, data, layout, {
    displayModeBar: false, responsive: true, plotlyServerURL: "",
  });
}

function choose(button) {
  chosen[button.dataset.plot] = button.dataset.choice;
  for (const other of button.parentElement.children) {
    other.setAttribute("aria-pressed", String(other === button));
  }
  return draw(button.dataset.plot);
}

function sort(heading) {
  const body = heading.closest("table").tBodies[0];
  const column = [...heading.parentElement.children].indexOf(heading);
  const descending = heading.dataset.order !== "descending";
  heading.dataset.order = descending ? "descending" : "ascending";
  const key = row => row.cells[column].dataset.key ?? row.cells[column].textContent;
  const order = (a, b) => key(a) - key(b) || key(a).localeCompare(key(b));
  body.append(...[...body.rows].sort((a, b) => descending ? order(b, a) : order(a, b)));
}

function drawAll() {
  return Promise.all(Object.keys(figures).map(draw));
}

for (const button of document.querySelectorAll("button[data-plot]")) {
  button.addEventListener("click", () => choose(button));
}
for (const heading of document.querySelectorAll("th")) {
  heading.addEventListener("click", () => sort(heading));
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
drawAll().then(() => { document.body.dataset.drawn = String(Object.keys(figures).length); });
