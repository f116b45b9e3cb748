// The sequence as a file: SVG that needs no stylesheet, or text of Mermaid.
import {copy, save} from "./copy.js";
import {mermaid} from "./sequence_mermaid.js";
import {html, render} from "./vendor/preact.js";

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "paint-order", "opacity", "font-size", "font-weight"];
const SVG = "http://www.w3.org/2000/svg";

// The text of a drawing that is in the document, with the styles that it has there.
function standalone(drawing, background) {
  const copy = drawing.cloneNode(true), copies = copy.querySelectorAll("*");
  drawing.querySelectorAll("*").forEach((element, at) => {
    if (element.matches("rect, path, text")) {
      const style = getComputedStyle(element);
      for (const name of STYLES) copies[at].setAttribute(name, style.getPropertyValue(name));
    }
    copies[at].removeAttribute("class");
  });
  drawing.querySelectorAll("*").forEach((element, at) => element.matches(".hit") && copies[at].remove());
  const ground = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({width: "100%", height: "100%", fill: background})) ground.setAttribute(name, value);
  copy.prepend(ground);
  const {width, height} = drawing.getBoundingClientRect();
  for (const [name, value] of Object.entries({xmlns: SVG, viewBox: `0 0 ${width} ${height}`, "font-family": getComputedStyle(drawing).fontFamily})) copy.setAttribute(name, value);
  return new XMLSerializer().serializeToString(copy);
}

// chart: what is drawn out of sight, and then taken as a file
export function svg(chart) {
  const stage = Object.assign(document.createElement("div"), {className: "chart stage"});
  document.querySelector("main").append(stage);
  try {
    render(chart, stage);
    return standalone(stage.firstElementChild, getComputedStyle(stage).backgroundColor);
  } finally {
    render(null, stage);
    stage.remove();
  }
}

const download = (name, type, text) => save(name, new Blob([text], {type}));

export const Export = ({messages, chart}) => html`<span class="choices" role="group" aria-label="Export">
  <button disabled=${!messages.length} title="save this drawing as sequence.svg" onClick=${() => download("sequence.svg", "image/svg+xml", svg(chart()))}>SVG</button>
  <button disabled=${!messages.length} title="save these messages as sequence.mmd" onClick=${() => download("sequence.mmd", "text/plain", mermaid(messages))}>Mermaid</button>
  <button disabled=${!messages.length} title="copy these messages as Mermaid" onClick=${() => copy(mermaid(messages))}>Copy Mermaid</button></span>`;
