// One exchange: both sides as trees, each field beside its bytes.
import * as api from "./api.js";
import {bookmarks, Note, toggle} from "./bookmarks.js";
import {CopyMenu} from "./copy.js";
import {set} from "./store.js";
import {picked} from "./take_away.js";
import {json, ms, plain} from "./text.js";
import {html, useEffect, useRef, useState} from "./vendor/preact.js";

const SHOWN = 4096, ITEMS = 50, LENGTH = 2000;

export function Detail({number}) {
  const [found, put] = useState(null);
  useEffect(() => {
    let over = false;
    api.exchange(number).then(value => over || put(value), problem => over || put({problem: problem.message}));
    return () => { over = true; };
  }, [number]);
  const [asked, compare] = useState(null), [other] = [...picked].filter(each => each !== number), against = asked?.number === other ? asked : null;
  const close = html`<button class="aside" aria-label="Close" title="key Escape" onClick=${() => set({opened: false})}>×</button>`;
  if (!found) return html`<p>…</p>`;
  if (found.problem) return html`${close}<p class="problem">${plain(found.problem)}</p>`;
  const about = [`#${found.number}`, found.client_id || found.client_address, found.user && `user ${found.user}`, `connection ${found.connection}`,
    `correlation id ${found.correlation_id}`, found.latency_ms !== null && `${ms(found.latency_ms)} ms`,
    found.broker_ms !== null && `${ms(found.broker_ms)} ms of them the broker's`, found.error, found.note, found.sasl];
  return html`<article>${close}<button class="aside" title="key m" onClick=${() => set({likeThis: number})}>Messages like this …</button><button class="aside" title="key b" aria-pressed=${String(bookmarks.has(number))} onClick=${() => toggle(number)}>Bookmark</button><${CopyMenu} found=${found}/>
    ${other !== undefined && html`<button class="aside" aria-pressed=${String(against !== null)} title="what differs from the exchange that is picked (x)"
      onClick=${() => against ? compare(null) : api.exchange(other).then(compare, problem => set({problem: problem.message}))}>Compare with #${other}</button>`}
    <h2>${found.api} v${found.version}</h2>
    <p>${about.filter(Boolean).map(plain).join(" · ")}</p>
    ${found.declared && html`<p>${found.declared.purpose}; v${found.declared.versions.join("–v")} are known${found.declared.brought.length > 0 && html`; v${found.version} brought ${found.declared.brought.join(", ")}`}</p>`}
    <${Note} number=${number}/>
    ${found.details && html`<p>${plain(found.details)}</p>`}
    ${found.rules.length > 0 && html`<p class="ruled">${found.rules.map(rule => html`<span>⟵ ${plain(rule)} </span>`)}</p>`}
    <div class="sides"><div>${["request", "response"].map(side => html`
      <${Side} key=${side} name=${side} shown=${found[side]} other=${found.altered[side]} inside=${found.inside[side]} against=${against?.[side].value}/>`)}</div></div></article>`;
}

// of a message that the proxy changed there are two forms; which one is shown first is what the client had
const FORMS = {request: ["as it came from the client", "as it left"], response: ["as it left for the client", "as it had come"]};

function Side({name, shown, other, inside, against}) {
  const root = useRef();
  const [turned, turn] = useState(false);
  const side = turned ? other : shown;
  const [pinned, pin] = useState("");
  const fields = new Map(side.fields.map(field => [field.path, field]));
  const light = (path, on) => root.current.querySelectorAll(`[data-at="${CSS.escape(path)}"]`).forEach(each => each.classList.toggle("lit", on));
  const over = on => event => {
    const path = event.target.closest("[data-at]")?.dataset.at;
    if (path && path !== pinned) light(path, on);
  };
  const click = event => {
    const one = event.target.closest("[data-at]"), path = one?.dataset.at;
    if (!path) return;
    if (pinned) light(pinned, false);
    light(path, true);
    pin(path);
    const there = one.closest(".hex") ? ":not(b)" : "b";
    root.current.querySelector(`${there}[data-at="${CSS.escape(path)}"]`)?.scrollIntoView({block: "nearest"});
  };
  return html`<section ref=${root} onMouseOver=${over(true)} onMouseOut=${over(false)} onClick=${click}>
    <h3>${side.size === null ? name : `${name}, ${side.size} bytes`}</h3>
    ${other && html`<div class="forms" role="group" aria-label="Forms">${FORMS[name].map((label, at) => html`
      <button aria-pressed=${String(turned === (at === 1))} onClick=${() => turn(at === 1)}>${label}</button>`)}</div>`}
    ${side.reason && html`<p class="problem">${plain(side.reason)}</p>`}
    ${side.value === null ? html`<p class="null">none</p>` : html`<${Tree} value=${side.value} against=${against !== undefined ? against ?? {} : other && (turned ? shown : other).value} tells=${against !== undefined} path="" fields=${fields} inside=${turned ? {} : inside}/>`}
    ${side.hex && html`<${Hex} name=${name} side=${side} pinned=${pinned} key=${turned}/>`}
  </section>`;
}

// inside: what there is within bytes, by their path; it is shown in their place
function Tree({value, path, fields, against, tells = false, inside = {}}) {
  const [shown, more] = useState(ITEMS);
  if (value === null || typeof value !== "object") {
    const text = plain(json(value)), rest = text.length - LENGTH * shown / ITEMS;
    return html`<span class=${"value " + (value === null ? "null" : typeof value)}>${rest > 0 ? html`${text.slice(0, -rest)}<button onClick=${() => more(10 * shown)}>${rest} characters more</button>` : text}</span>`;
  }
  // what only the other exchange has is shown, too
  const gone = tells && against ? Object.keys(against).filter(key => !(key in value)) : [];
  const all = Object.entries(value);
  return html`<ul>${all.slice(0, shown).map(([key, given]) => {
    const at = Array.isArray(value) ? `${path}[${key}]` : path ? `${path}.${key}` : key;
    const each = inside[at] ?? given, unpacked = each !== given;
    const field = fields.get(at), deep = each !== null && typeof each === "object";
    const label = html`<span class="key">${plain(key)}</span>`;
    const type = field && html`${field.error && html` <b class="error">${plain(field.error)}</b>`} <small>${field.declared || field.type}</small>`;
    const before = against === undefined ? undefined : against?.[key] ?? null;
    const inner = html`<${Tree} value=${each} path=${at} fields=${fields} against=${unpacked ? undefined : before} tells=${tells} inside=${unpacked ? {} : inside}/>`;
    const differs = before !== undefined && json(before) !== json(given);
    return deep && Object.keys(each).length
      ? html`<li key=${key} class=${unpacked && differs ? "differs" : ""}><details open=${all.length < ITEMS}><summary data-at=${field ? at : undefined}>${label}${Array.isArray(each) ? ` [${each.length}]` : ""}${type}</summary>${inner}</details></li>`
      : html`<li key=${key} class=${differs ? "differs" : ""} data-at=${field ? at : undefined}>${label} ${deep ? (Array.isArray(each) ? "[]" : "{}") : inner}${type}${tells && differs && !deep && html` <del title="in the other exchange">${plain(json(before))}</del>`}</li>`;
  })}${gone.map(key => html`<li key=${"-" + key} class="differs"><span class="key">${plain(key)}</span> <del title="in the other exchange alone">${plain(json(against[key]))}</del></li>`)}${all.length > shown && html`<li><button onClick=${() => more(shown + 10 * ITEMS)}>${all.length - shown} more</button></li>`}</ul>`;
}

const WIDE = 540;  // pixels of 16 bytes a line

function Hex({name, side, pinned}) {
  const box = useRef(), [across, put] = useState(16);
  useEffect(() => {
    const resized = new ResizeObserver(([{contentRect}]) => put(contentRect.width < WIDE ? 8 : 16));
    resized.observe(box.current);
    return () => resized.disconnect();
  }, []);
  const data = atob(side.hex).slice(0, SHOWN), starts = [];
  for (const field of side.fields) for (let at = field.start; at < Math.min(field.end, data.length); at++) starts[at] = field;
  const lines = [];
  for (let row = 0; row < data.length; row += across) {
    const pieces = [];
    let text = "";
    for (let at = row; at < Math.min(row + across, data.length); at++) {
      const code = data.charCodeAt(at), last = pieces.at(-1);
      const byte = " " + code.toString(16).padStart(2, "0");
      if (last && last.field === starts[at]) last.bytes += byte;
      else pieces.push({field: starts[at], bytes: byte});
      text += code > 32 && code < 127 ? data[at] : "·";
    }
    // a line of another width is another line: what lights a field knows elements, not what is drawn
    lines.push(html`<div key=${`${across} ${row}`}><i>${row.toString(16).padStart(4, "0")}</i>${pieces.map(({field, bytes}) => field
      ? html`<b data-at=${field.path} class=${field.path === pinned ? "lit" : ""} title=${`${field.path}: ${field.declared ? field.declared + ", " : ""}${field.type}`}>${bytes}</b>` : html`<b>${bytes}</b>`)}<s>${text}</s></div>`);
  }
  return html`<div class="hex" ref=${box} tabindex="0" role="region" aria-label=${`Bytes of the ${name}`}>${lines}
    ${side.size > data.length && html`<div>… ${side.size - data.length} bytes more</div>`}</div>`;
}
