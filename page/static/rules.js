// Rules: what each did and would have done, the scenario as text that is checked and tried while one types.
import {call, get} from "./api.js";
import {copy} from "./copy.js";
import {Editor} from "./editor.js";
import {usePolled} from "./polled.js";
import {go, set, state} from "./store.js";
import {problems, Table} from "./table.js";
import {count, plain} from "./text.js";
import {html, useEffect} from "./vendor/preact.js";

const PAUSE = 300, LAST = 1000;
// base: what holds; null until it is known. was: what the editor had last
const draft = {text: null, base: null, was: null, problems: [], remarks: [], tried: null, status: "", schema: null};
let typed = 0, asked = 0;

// a rule that was drafted elsewhere, behind the others
export async function append(rule) {
  if (draft.base === null) await load();
  if (draft.base === null) return;
  const text = draft.text.replace(/^rules: *\[\] *$/m, "rules:").replace(/\n*$/, "\n");
  const indent = text.match(/^( *)- +\w+:/m)?.[1] ?? "";
  change(text + rule.trimEnd().split("\n").map((line, at) => indent + (at ? "  " : "- ") + line).join("\n") + "\n");
}

function change(text) {
  draft.text = text;
  draft.status = "";
  set();
  clearTimeout(typed);
  typed = setTimeout(examine, PAUSE);
}

async function examine() {
  const {text} = draft, mine = ++asked;
  try {
    const checked = await call("POST", "/scenario/check", text);
    if (mine !== asked) return;
    Object.assign(draft, checked);
    if (checked.problems.length) draft.tried = null;
    else {
      const tried = await call("POST", `/scenario/try?last=${LAST}`, text);
      if (mine === asked) draft.tried = tried;
    }
  } catch (problem) {
    draft.status = problem.message;
  }
  set();
}

async function load() {
  try {
    draft.schema ??= await get("/scenario/schema");
    const {text} = await get("/scenario");
    if (draft.text === draft.base) draft.text = text;
    draft.base = text;
    examine();
  } catch (problem) {
    draft.status = problem.message;
    set();
  }
}

async function apply() {
  try {
    const {text, missing_workers: missing} = await call("PUT", "/scenario", draft.text);
    Object.assign(draft, {text, base: text, status: missing.length ? "It holds now, but for the workers that do not answer." : "It holds now, for all connections."});
  } catch (problem) {
    draft.status = problem.message;
  }
  set();
}

export const mark = rule => go({marked: {rule: rule.name, numbers: new Set(rule.fires)}, view: "exchanges", likeThis: null});

const tell = (method, rule, what, reload) =>
  call(method, `/scenario/rules/${encodeURIComponent(rule)}${what}`).then(reload, problem => set({problem: problem.message}));

export function Would({rule, exchanges}) {
  if (!rule) return "";
  const undecided = rule.undecided ? `, ${count(rule.undecided)} undecided` : "";
  return html`<span title=${plain(rule.why)}>matches ${count(rule.matched)}, fires on ${count(rule.fired)}${undecided}${rule.why && !rule.undecided ? `: ${plain(rule.why)}` : ""}</span>
    ${rule.fires.length > 0 && html` <button aria-label=${`Show in the list: ${plain(rule.name)}`} onClick=${() => mark(rule)}>show ${count(rule.fires.length)} of ${count(exchanges)}</button>`}`;
}

export function Rules() {
  const live = state.source.kind === "live";
  const [scenario, problem, reload] = usePolled("/scenario");
  useEffect(() => { load(); }, []);
  useEffect(() => {
    // somebody else has changed it
    if (scenario && draft.base !== null && scenario.text !== draft.base && draft.text === draft.base) load();
  }, [scenario?.text]);
  useEffect(() => { draft.was = draft.text; });
  const tried = new Map(draft.tried?.rules.map(rule => [rule.name, rule])), holds = scenario?.rules ?? [];
  const names = [...new Set([...holds.map(rule => rule.name), ...tried.keys()])];
  const did = new Map(holds.map(rule => [rule.name, rule]));
  const rows = names.map(name => ({key: name, name, did: did.get(name), would: tried.get(name)}));
  const hand = ({name, did: one}) => one && html`<span class="hand">${[
    ["POST", "/fire", "Fire", "on its next match, regardless of `when`"], ["POST", "/release", "Release", "forward the messages that it holds"], ["DELETE", "", "Remove", "remove it and forward the messages that it holds"],
  ].map(([method, what, label, title]) => html`<button title=${title} aria-label=${`${label}: ${plain(name)}`} onClick=${() => tell(method, name, what, reload)}>${label}</button>`)}</span>`;
  const loaded = draft.base !== null, changed = draft.text !== draft.base, other = scenario && changed && scenario.text !== draft.base;
  const wrong = draft.problems.length > 0;
  return html`<div class="view">
    ${problems(scenario && loaded, problem || (loaded ? "" : draft.status))}
    ${(scenario || draft.tried) && html`<${Table} label="Rules" none="There are no rules." rows=${rows} columns=${[
      ["rule", row => row.name],
      ...live ? [["matched", row => row.did && count(row.did.matched), "number"]] : [],
      ["fired", row => row.did && count(row.did.fired), "number"],
      ...live ? [["does", row => row.did ? [row.did.what, row.did.to_fire && `fires on its next ${row.did.to_fire}`].filter(Boolean).join(", ") : "not applied"]] : [],
      [draft.tried ? `tried on the last ${count(draft.tried.exchanges)}` : "not tried", row => html`<${Would} rule=${row.would} exchanges=${draft.tried?.exchanges}/>`],
      ...live ? [["do", hand]] : [],
    ]}/>`}
    ${draft.tried && html`<p class="none">${plain(draft.tried.limits)}</p>`}
    <h2>Scenario</h2>
    ${draft.text !== null && html`<${Editor} label="Scenario, in YAML. Control and space: what can stand here" text=${draft.text} was=${draft.was} change=${change} problems=${draft.problems} schema=${draft.schema}/>`}
    <div class="bar">
      ${live && html`<button class="primary" disabled=${!changed || wrong} onClick=${apply}>Apply</button>`}
      <button disabled=${!loaded || wrong} title="on the last exchanges that there are now" onClick=${examine}>Try again</button>
      <button disabled=${!changed} onClick=${() => change(draft.base)}>Undo all</button>
      <button disabled=${!loaded} onClick=${() => copy(draft.text)}>Copy</button>
      <output role="status">${draft.status ? plain(draft.status) : wrong ? "Not applied: it has problems." : other ? "The rules have been changed meanwhile: Apply replaces them." : changed && live ? "Not applied yet." : ""}</output>
    </div>
    <ul class="remarks">${draft.remarks.map(line => html`<li>${plain(line)}</li>`)}</ul></div>`;
}
