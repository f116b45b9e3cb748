// Messages that wait: a queue, and one of them to edit, let go, drop or answer. What is chosen is an id that no other message gets.
import {call, get} from "./api.js";
import {copy} from "./copy.js";
import {usePolled} from "./polled.js";
import {problems, Table} from "./table.js";
import {bytes, json, plain, plural} from "./text.js";
import {html, useEffect, useRef, useState} from "./vendor/preact.js";

const ITEMS = 50, LONG = 60, SHOWN = 500;
const ERRORS = ["NOT_LEADER_OR_FOLLOWER", "NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", "UNKNOWN_TOPIC_OR_PARTITION", "REQUEST_TIMED_OUT",
  "TOPIC_AUTHORIZATION_FAILED", "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID", "INVALID_REQUEST", "UNKNOWN_SERVER_ERROR"];
const seconds = ms => (ms / 1000).toFixed(1) + " s";
const rules = "/scenario/rules";
const pathOf = name => `${rules}/${encodeURIComponent(name)}`;

export function Breakpoints() {
  const [queue, problem, reload] = usePolled("/breakpoints", 500);
  const [chosen, choose] = useState(null), [done, tell] = useState(null);
  const decided = decision => { choose(null); tell(decision); reload(); };
  return html`<div class="view">
    ${problems(queue, problem)}
    <${Stops}/>
    <h2>Messages that wait</h2>
    ${queue && html`<${Table} label="Messages that wait" none="No message waits at a breakpoint." columns=${COLUMNS(chosen, id => { choose(id); tell(null); })}
      rows=${queue.slice(0, SHOWN).map(row => ({...row, key: row.id, kind: row.id === chosen ? "chosen" : ""}))}/>`}
    ${queue?.length > SHOWN && html`<p class="none">More messages wait.</p>`}
    ${done && html`<${Done} decision=${done}/>`}
    ${chosen && html`<${Message} key=${chosen} id=${chosen} now=${queue?.find(row => row.id === chosen)} listed=${queue} decided=${decided}/>`}</div>`;
}

const COLUMNS = (chosen, choose) => [
  ["open", row => html`<button aria-pressed=${String(row.id === chosen)} onClick=${() => choose(row.id)}>Open ${row.id}</button>`],
  ["client", row => row.client_id || row.client_address],
  ["message", row => `${row.api} v${row.version} ${row.direction}`],
  ["broker", row => row.broker ?? "bootstrap"], ["correlation id", row => row.correlation_id, "number"],
  ["size", row => bytes(row.size), "number"], ["waits", row => seconds(row.waited_ms), "number"],
  ["leaves by itself in", row => html`<${Left} of=${row.waited_ms + row.left_ms} ms=${row.left_ms}/>`],
  ["its client waits for", row => row.client_timeout ? html`<${Left} of=${row.client_timeout.ms} ms=${row.client_timeout.left_ms} field=${row.client_timeout.field}/>` : "unknown"],
  ["rule", row => row.rule],
];

const Left = ({ms, of, field}) => html`<span class=${ms < 5000 ? "danger" : ""}><meter min="0" max=${of} value=${Math.max(0, ms)} aria-label="time left"></meter>
  ${ms > 0 ? seconds(ms) : "over"}${field && html` <small class="of">${field} ${seconds(of)}</small>`}</span>`;

// the rules that stop messages, and another one
function Stops() {
  const [scenario, trouble, reload] = usePolled("/scenario");
  const [problem, setProblem] = useState("");
  const form = useRef();
  const ask = calls => calls().then(() => { setProblem(""); reload(); }, error => setProblem(error.message));
  const add = event => {
    event.preventDefault();
    const {api, direction, client, next} = form.current.elements, match = {};
    if (api.value.trim()) match.api = api.value.trim();
    if (direction.value) match.direction = direction.value;
    if (client.value) match.client_id = client.value;
    const name = ["stop at", match.client_id, match.api, match.direction ?? "messages"].filter(Boolean).join(" ");
    const rule = {name, match, ...next.checked ? {when: {probability: 0}} : {}, do: "breakpoint"};
    ask(async () => {
      await call("POST", rules, JSON.stringify(rule));
      if (next.checked) await call("POST", `${pathOf(name)}/fire`);
    });
  };
  const stops = scenario?.rules.filter(rule => /(^|\+ )breakpoint/.test(rule.what)) ?? [];
  const hand = rule => html`<span class="hand"><button aria-label=${`Next match: ${plain(rule.name)}`} title="stop at its next match, regardless of its when"
      onClick=${() => ask(() => call("POST", `${pathOf(rule.name)}/fire`))}>Next match</button>
    <button aria-label=${`Remove: ${plain(rule.name)}`} title="remove it and forward the messages that it holds" onClick=${() => ask(() => call("DELETE", pathOf(rule.name)))}>Remove</button></span>`;
  return html`<form class="bar stop" ref=${form} onSubmit=${add} aria-label="Stop at messages">
      <label>API <input name="api" size="14" placeholder="any" spellcheck=${false}/></label>
      <label>direction <select name="direction">${["", "request", "response"].map(way => html`<option value=${way}>${way || "both"}</option>`)}</select></label>
      <label>client id <input name="client" size="14" placeholder="any, or a glob" spellcheck=${false}/></label>
      <label><input type="checkbox" name="next"/> next match only</label>
      <button>Stop at these</button></form>
    ${problems(scenario, problem || trouble)}
    ${stops.length > 0 && html`<${Table} label="Breakpoints" rows=${stops.map(rule => ({...rule, key: rule.name}))} columns=${[
      ["breakpoint", rule => rule.name], ["stopped", rule => rule.fired, "number"], ["decided", rule => rule.released, "number"],
      ["left by itself", rule => rule.timed_out + rule.connection_ended, "number"], ["to stop next", rule => rule.to_fire || "", "number"], ["do", hand]]}/>`}`;
}

// one message. All that is changed is held as the JSON of what is put there, "" while it is none: `edits` by path, `added`
// by a number of its own, `rewritten` by path and place of a record and what of it. `removed`: elements that are taken out
function Message({id, now, listed, decided}) {
  const [message, setMessage] = useState(null), [problem, say] = useState("");
  const [edits, edit] = useState({}), [added, add] = useState({}), [removed, remove] = useState([]), [rewritten, rewrite] = useState({});
  const [hex, setHex] = useState(null), [error, setError] = useState("");
  useEffect(() => {
    let over = false;
    get("/breakpoints/" + id).then(value => over || setMessage(value), problem => over || say(problem.message));
    return () => { over = true; };
  }, []);
  const send = body => call("POST", "/breakpoints/" + id, body).then(decided, problem => say(problem.message));
  const texts = ({where, ...parts}) => Object.values(parts);
  const wrong = [...Object.values(edits), ...Object.values(added).map(each => each.text), ...Object.values(rewritten).flatMap(texts)].includes("");
  const pairs = parts => Object.entries(parts).map(([name, text]) => `${JSON.stringify(name)}: ${text}`).join(", ");
  // from the last on, so that the places of the others hold
  const out = [...removed].sort((a, b) => b.localeCompare(a, "en", {numeric: true}));
  const changes = [pairs(edits) && `"set": {${pairs(edits)}}`, out.length && `"remove": ${JSON.stringify(out)}`].filter(Boolean);
  // records first, while the paths to them hold; what is added comes behind what is there
  const does = [...Object.values(rewritten).map(({where, ...parts}) => `{"rewrite": {${pairs(where)}, ${pairs(parts)}}}`),
    ...Object.values(added).map(({path, text}) => `{"edit": {"append": {${JSON.stringify(path)}: ${text}}}}`), ...changes.length ? [`{"edit": {${changes.join(", ")}}}`] : []];
  const change = () => send(hex !== null ? JSON.stringify({replace: {hex}}) : does.length ? `[${does.join(", ")}]` : "");
  const changed = hex !== null || does.length > 0;
  const tree = {message, edits, edit, added, add, removed, remove, rewritten, rewrite};
  if (!message) return html`<p class=${problem ? "problem" : "none"} role="status">${plain(problem || "…")}</p>`;
  return html`<article class="waiting" aria-label=${`Message ${id}`}>
    <h2>${message.id} ${plain(message.api)} v${message.version} ${message.direction}</h2>
    <p>${plain(message.client_id || message.client_address)} · connection ${message.connection} · correlation id ${message.correlation_id}${
      now ? ` · waits ${seconds(now.waited_ms)}` : ""}</p>
    ${listed && !now && html`<p class="problem" role="alert">It no longer waits: it was forwarded, or somebody else decided.</p>`}
    ${problem && html`<p class="problem" role="alert">${plain(problem)}</p>`}
    ${message.problem && html`<p class="problem">${plain(message.problem)}</p>`}
    ${message.masked && html`<p class="none">Some of it is hidden here; fields that you do not change are forwarded unchanged.</p>`}
    <fieldset class="bar" disabled=${listed && !now}>
      <button class="primary" disabled=${wrong} onClick=${change}>${changed ? "Let go changed" : "Let go"}</button>
      ${changed && html`<button onClick=${() => { edit({}); add({}); remove([]); rewrite({}); setHex(null); }}>Undo changes</button>`}
      ${message.direction === "request" && html`<form class="bar" onSubmit=${event => { event.preventDefault(); send(JSON.stringify({respond: {error}})); }}>
        <input aria-label="error" list="errors" placeholder="error" value=${error} onInput=${event => setError(event.target.value)} spellcheck=${false}/>
        <datalist id="errors">${ERRORS.map(name => html`<option value=${name}/>`)}</datalist><button disabled=${!error}>Answer with it</button></form>`}
      <button class="danger" title="its receiver gets nothing more on this connection in that direction, as when TCP loses it" onClick=${() => send("drop")}>Drop it and all later messages</button>
      <button class="danger" title="later messages on the connection pass" onClick=${() => send('{"drop": {"selective": true}}')}>Drop it alone</button>
      <button class="danger" onClick=${() => send("reset")}>Reset connection</button></fieldset>
    ${message.body !== null && hex === null && html`<${Fields} value=${message.body} path="" tree=${tree}/>`}
    ${message.hex !== null && !message.masked && html`<details open=${hex !== null} onToggle=${({target: {open}}) => setHex(now => open ? now ?? spaced(message.hex) : null)}>
      <summary>Other bytes, valid or not</summary>
      <textarea aria-label="Bytes of the body in hex" rows="6" spellcheck=${false} value=${hex ?? ""} onInput=${event => setHex(event.target.value)}></textarea></details>`}
  </article>`;
}

const spaced = hex => hex.replace(/(.{8})(?=.)/g, "$1 ");

// a tree whose leaves are fields of a form; the server looks at types
function Fields({value, path, tree}) {
  const [limit, raise] = useState(ITEMS);
  const {message, edits, edit, added, add, removed, remove} = tree;
  const all = Object.entries(value), list = Array.isArray(value);
  const change = (at, text, before) => edit(({[at]: _, ...rest}) => text === before ? rest : {...rest, [at]: text});
  return html`<ul>${all.slice(0, limit).map(([key, each]) => {
    const at = list ? `${path}[${key}]` : path ? `${path}.${key}` : key;
    const gone = removed.includes(at), deep = each !== null && typeof each === "object";
    const cut = list && html` <button aria-pressed=${String(gone)} aria-label=${`Remove ${at}`} onClick=${() => remove(gone ? removed.filter(one => one !== at) : [...removed, at])}>×</button>`;
    if (gone) return html`<li key=${key}><span class="key"><del>${plain(key)}</del></span>${cut}</li>`;
    if (deep && Object.keys(each).length) {
      return html`<li key=${key}>${cut}<details open=${all.length < ITEMS}><summary><span class="key">${plain(key)}</span>${Array.isArray(each) ? ` [${each.length}]` : ""}</summary>
        <${Fields} value=${each} path=${at} tree=${tree}/></details></li>`;
    }
    if (message.records[at]?.length) return html`<li key=${key}><${Records} path=${at} name=${key} tree=${tree}/></li>`;
    const type = message.types[at.replace(/\[\d+\]/g, "[]")];
    return html`<li key=${key}><label><span class="key">${plain(key)}</span> <${Field} path=${at} value=${each} text=${edits[at]} change=${change}/></label>${type && html` <small>${type}</small>`}${cut}</li>`;
  })}${all.length > limit && html`<li><button onClick=${() => raise(limit + 10 * ITEMS)}>${all.length - limit} more</button></li>`}
    ${list && Object.entries(added).filter(([_, one]) => one.path === path).map(([number, one]) => html`<li key=${"+" + number}><span class="key">+</span>
      <button aria-label=${`Remove what is added to ${path}`} onClick=${() => add(({[number]: _, ...rest}) => rest)}>×</button> <${Added} path=${path} like=${one.like} change=${text => add(all => ({...all, [number]: {...one, text}}))}/></li>`)}
    ${list && html`<li><button aria-label=${`Add to ${path}`} title="one more, like the last" onClick=${() => add(elements => ({...elements, [1 + Math.max(0, ...Object.keys(elements))]:
      {path, like: all.at(-1)[1], text: json(all.at(-1)[1])}}))}>+</button></li>`}</ul>`;
}

// one more element of an array, as JSON
function Added({path, like, change}) {
  const [typed, type] = useState(json(like, 1)), fits = valid(typed);
  const here = useRef();
  useEffect(() => here.current.focus(), []);
  return html`<textarea ref=${here} aria-label=${`added to ${path}`} class=${fits ? "edited" : "wrong"} aria-invalid=${fits ? undefined : "true"} spellcheck=${false}
    rows=${Math.min(12, typed.split("\n").length)} value=${typed} onInput=${event => { type(event.target.value); change(valid(event.target.value) ? event.target.value : ""); }}></textarea>`;
}

// the records of a set: what is put into one makes its batch anew
function Records({path, name, tree: {message, rewritten, rewrite}}) {
  const all = message.records[path];
  const rewritePart = (record, part, text, before) => rewrite(({[`${path}#${record}`]: old, ...rest}) => {
    const where = {path: JSON.stringify(path), record, base64: all[record].base64}, {[part]: _, ...kept} = old ?? {where};
    const now = text === before ? kept : {...kept, [part]: text};
    return Object.keys(now).length > 1 ? {...rest, [`${path}#${record}`]: now} : rest;
  });
  const part = (each, record, name, text = each[name]) => html`<label><span class="key">${name}</span> <${Field} path=${`${path} record ${record} ${name}`}
    value=${text ?? ""} none=${text === null} text=${rewritten[`${path}#${record}`]?.[name]} change=${(_, now, before) => rewritePart(record, name, now, before)}/></label> `;
  return html`<details open><summary><span class="key">${plain(name)}</span> ${plural(all.length, "record")}</summary>
    <ul>${all.map((each, record) => html`<li key=${record}><span class="key">${each.offset}</span> ${
      ["key", "value", "timestamp", "headers"].map(name => part(each, record, name))}${each.base64 && html`<small>base64</small>`}</li>`)}</ul></details>`;
}

// a text is typed as it is; all else is JSON. text: the JSON of another value, "" if it is none; none: it is a text, and null now
function Field({path, value, none, text, change}) {
  const [typed, type] = useState(null);
  const jsType = typeof value, before = json(value);
  useEffect(() => { if (text === undefined) type(null); }, [text]);
  const input = entered => {
    type(entered);
    change(path, jsType === "string" ? JSON.stringify(entered) : valid(entered) ? entered.trim() : "", before);
  };
  const look = {"aria-label": path, class: text === undefined ? "" : text === "" ? "wrong" : "edited", "aria-invalid": text === "" ? "true" : undefined};
  if (jsType === "boolean") {
    return html`<select ...${look} value=${text ?? before} onChange=${event => input(event.target.value)}>${["true", "false"].map(each => html`<option value=${each}>${each}</option>`)}</select>`;
  }
  const displayed = typed ?? (jsType === "string" ? value : before);
  return html`<input ...${look} value=${displayed} placeholder=${none ? "null" : undefined} size=${Math.min(LONG, Math.max(6, displayed.length + 1))} spellcheck=${false} onInput=${event => input(event.target.value)}/>`;
}

function valid(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function Done({decision}) {
  const here = useRef();
  useEffect(() => here.current.focus(), [decision]);
  return html`<section ref=${here} tabindex="-1" role="status" aria-label="What was done"><h2>${decision.id}: ${decision.what.map(plain).join(", ")}</h2>
  ${decision.scenario && html`<p class="none">To repeat this on the next such message of this client: <button onClick=${() => copy(decision.scenario)}>Copy scenario</button></p>
    <pre tabindex="0" role="region" aria-label="Scenario">${decision.scenario.trimEnd().split("\n").map(plain).join("\n")}</pre>`}</section>`;
}
