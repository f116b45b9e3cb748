// The reader's filter, one for all sections. Elements without such a mark are not filtered, and a note says so.
import {plural} from "./text.js";

const NAMES = ["client", "topic", "group", "broker"];
const wanted = {client: "", topic: "", group: "", broker: "", from: null, to: null};
const time = () => wanted.from !== null || wanted.to !== null;
const active = () => [...NAMES.filter(name => wanted[name]), ...time() ? ["time"] : []];

// of: the marks of a row, a point or a sentence, which may have several values; marks of elements are text
export function matches(of) {
  return NAMES.every(name => !wanted[name] || of[name] === undefined || [of[name]].flat().includes(wanted[name]))
    && !(wanted.from !== null && of.to < wanted.from) && !(wanted.to !== null && of.from > wanted.to);
}

// the part of a trace that passes the filter; of: its marks, or a list of them for its points
export function picked(trace, of = {}) {
  const lists = Object.entries(of).filter(([, value]) => Array.isArray(value));
  if (!lists.length) return matches(of) ? trace : null;
  const count = lists[0][1].length;
  const kept = [...Array(count).keys()].filter(at => matches(Object.fromEntries(lists.map(([name, value]) => [name, value[at] ?? undefined]))));
  if (!kept.length) return null;
  const take = value => Array.isArray(value) && value.length === count ? kept.map(at => value[at]) : value;
  const taken = values => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, take(value)]));
  return {...taken(trace), ...trace.marker && {marker: taken(trace.marker)}};
}

// the selected part of a time span, ms since the epoch
export const within = (from, to) => [Math.max(from, wanted.from ?? from), Math.min(to, wanted.to ?? to)];
export const times = () => time() ? within(whole.from, whole.to) : null;

// shows below an element which part of the filter does not apply to it, or that nothing passes; marks: names of its marks
export function note(element, marks, empty) {
  const missing = active().filter(one => !marks.has(one));
  const said = [
    missing.length && `The filter's ${missing.join(" and ")} can't be told apart here: this is of all.`,
    active().length && empty && "Nothing here matches the filter.",
  ].filter(Boolean).join(" ");
  let below = element.nextElementSibling;
  if (!below?.classList.contains("filtered")) {
    if (!said) return;
    below = document.createElement("p");
    below.className = "remark filtered";
    element.after(below);
  }
  below.textContent = said;
  below.hidden = !said;
}

export function marksOf(elements) {
  const marks = new Set(elements.flatMap(one => Object.keys(one)));
  return new Set([...marks].map(name => name === "from" ? "time" : name));
}

function rows() {
  let all = 0, left = 0;
  for (const table of document.querySelectorAll("table")) {
    const found = [...table.tBodies[0].rows];
    for (const row of found) row.hidden = !matches(row.dataset);
    const shown = found.filter(row => !row.hidden).length, details = table.closest("details");
    const count = details.querySelector("summary .count");
    count.textContent = active().length ? `${shown} of ${count.dataset.all}` : count.dataset.all;
    note(details, marksOf(found.map(row => row.dataset)), !shown);
    all += found.length;
    left += shown;
  }
  document.querySelectorAll(".said ul, .says").forEach(sentences);
  return active().length ? `${left} of ${plural(all, "row")}; what can't follow the filter says so` : "";
}

// a sentence about more than the filter selects is marked: its numbers do not change
function sentences(list) {
  const all = [...list.children];
  for (const sentence of all) {
    const of = JSON.parse(sentence.dataset.of);
    sentence.hidden = !matches(of);
    const more = NAMES.filter(name => wanted[name] && of[name] !== wanted[name]);
    if (time() && !(of.from >= (wanted.from ?? whole.from) && of.to <= (wanted.to ?? whole.to))) more.push("time");
    sentence.querySelector(".more")?.remove();
    if (!more.length) continue;
    const said = document.createElement("span");
    said.className = "more";
    said.textContent = ` (not of this ${more.join(" and ")} alone)`;
    sentence.append(said);
  }
  // in a section, the table shows it
  if (list.closest(".said")) note(list, new Set([...NAMES, "time"]), all.every(sentence => sentence.hidden));
}

const bar = document.getElementById("filter");
const whole = {from: Number(bar.dataset.from), to: Number(bar.dataset.to)};
const inputs = Object.fromEntries(Object.keys(wanted).map(name => [name, bar.querySelector(`[name=${name}]`)]));

// redraw: a function that draws all figures again
export function listen(redraw) {
  const changed = () => {
    const [from, to] = ["from", "to"].map(name => {
      const at = inputs[name] ? Date.parse(inputs[name].value + "Z") : NaN;
      return at > whole.from && at < whole.to ? at : null;
    });
    if (from !== null && to !== null && from > to) {
      bar.querySelector("output").textContent = "The time ends before it begins: the filter stays as it was.";
      return null;
    }
    Object.assign(wanted, {from, to});
    for (const name of NAMES) wanted[name] = inputs[name]?.value ?? "";
    bar.querySelector("button").disabled = !active().length;
    bar.querySelector("output").textContent = rows();
    return redraw();
  };
  bar.addEventListener("change", changed);
  bar.querySelector("button").addEventListener("click", () => {
    for (const input of Object.values(inputs)) if (input) input.value = input.defaultValue ?? "";
    bar.querySelector("select, input").focus();
    return changed();
  });
}

// the time span to which a figure was zoomed, ms since the epoch; null: everything
export function zoom(from, to) {
  const text = at => new Date(at).toISOString().slice(0, -1);
  inputs.from.value = text(Math.max(from ?? whole.from, whole.from));
  inputs.to.value = text(Math.min(to ?? whole.to, whole.to));
  bar.dispatchEvent(new Event("change"));
}
