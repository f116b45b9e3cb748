// One exchange: each field beside its bytes.
import {h, plain} from "./dom.js";

const SHOWN = 4096;

export function detail(found) {
  const made = h("article", {},
    h("h2", {}, plain(`${found.api} v${found.version}`)),
    h("p", {}, plain([`#${found.number}`, found.client_id ?? found.client_address, `connection ${found.connection}`,
      `correlation ${found.correlation_id}`, found.error, found.note, found.sasl].filter(Boolean).join(" · "))));
  for (const side of ["request", "response"]) made.append(half(side, found[side], found.inside[side]));
  return made;
}

function half(name, side, inside) {
  const fields = new Map(side.fields.map(field => [field.path, field]));
  const leaves = new Map(), bytes = [];
  const mark = (field, on) => {
    for (let at = field.start; at < Math.min(field.end, bytes.length); at++) bytes[at].classList.toggle("lit", on);
    leaves.get(field.path)?.classList.toggle("lit", on);
  };
  const tree = (value, path) => {
    const nested = value !== null && typeof value === "object";
    if (!nested) {
      return h("span", {className: "value " + (value === null ? "null" : typeof value)}, plain(JSON.stringify(value)));
    }
    return h("ul", {}, ...Object.entries(value).map(([key, each]) => {
      const at = Array.isArray(value) ? `${path}[${key}]` : path ? `${path}.${key}` : key;
      const field = fields.get(at), deep = each !== null && typeof each === "object";
      const label = h("span", {className: "key", title: field ? field.type : ""}, plain(key));
      const line = deep
        ? h("li", {}, h("details", {open: true}, h("summary", {}, label), tree(each, at)))
        : h("li", {}, label, " ", tree(each, at));
      if (field && !deep) {
        leaves.set(at, line);
        line.onmouseenter = () => mark(field, true);
        line.onmouseleave = () => mark(field, false);
      }
      return line;
    }));
  };
  const made = h("section", {}, h("h3", {}, side.size === null ? name : `${name}, ${side.size} bytes`));
  if (side.reason) made.append(h("p", {className: "problem"}, plain(side.reason)));
  made.append(side.value === null ? h("p", {className: "null"}, "none") : tree(side.value, ""));
  if (inside) made.append(h("h4", {}, "inside"), tree(inside, "\0"));
  if (side.hex) made.append(hex(side, bytes, mark));
  return made;
}

function hex(side, bytes, mark) {
  const data = atob(side.hex).slice(0, SHOWN), dump = h("div", {className: "hex"});
  for (let at = 0; at < data.length; at++) {
    if (at % 16 === 0) dump.append(h("i", {}, (at ? "\n" : "") + at.toString(16).padStart(4, "0") + " "));
    bytes.push(h("b", {}, " " + data.charCodeAt(at).toString(16).padStart(2, "0")));
    dump.append(bytes[at]);
  }
  for (const field of side.fields) {
    for (let at = field.start; at < Math.min(field.end, bytes.length); at++) {
      bytes[at].title = `${field.path}: ${field.type}`;
      bytes[at].onmouseenter = () => mark(field, true);
      bytes[at].onmouseleave = () => mark(field, false);
    }
  }
  if (side.size > data.length) dump.append(`\n… ${side.size - data.length} bytes more`);
  return dump;
}
