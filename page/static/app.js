// The page: its head, the view that is chosen, and the keys that hold everywhere.
import * as api from "./api.js";
import {Breakpoints} from "./breakpoints.js";
import {Exchanges} from "./exchanges.js";
import {Groups} from "./groups.js";
import {Help} from "./help.js";
import {Latency} from "./latency.js";
import {LikeThis} from "./like_this.js";
import {Network} from "./network.js";
import {Overview} from "./overview.js";
import {Rules} from "./rules.js";
import {Sequence} from "./sequence.js";
import {go, onChange, set, state} from "./store.js";
import {pause, restart} from "./stream.js";
import {plain, plural} from "./text.js";
import {Topics} from "./topics.js";
import {Transactions} from "./transactions.js";
import {html, render} from "./vendor/preact.js";

// a view is one file and one line here; those of a live proxy only need one
const VIEWS = [
  {name: "overview", title: "Overview", shows: Overview},
  {name: "exchanges", title: "Exchanges", shows: Exchanges},
  {name: "sequence", title: "Sequence", shows: Sequence},
  {name: "groups", title: "Groups", shows: Groups},
  {name: "transactions", title: "Transactions", shows: Transactions},
  {name: "topics", title: "Topics", shows: Topics},
  {name: "latency", title: "Latency", shows: Latency},
  {name: "breakpoints", title: "Breakpoints", shows: Breakpoints, live: true},
  {name: "network", title: "Network", shows: Network, live: true},
  {name: "rules", title: "Rules", shows: Rules},
];
const offered = () => VIEWS.filter(view => !view.live || state.source.kind === "live");

function Head() {
  const {name, kind, first, end, over, trouble} = state.source;
  const said = [state.copied ? "copied" : "", trouble, kind === "live" && over ? "barnabas has stopped" : "", plural(end - first, "exchange"), first ? `${plural(first, "earlier one")} fell out` : "",
    kind === "capture" && !over ? "reading …" : ""];
  const show = name => go({view: name, problem: ""});
  return html`<header class="top">
    <h1 class="brand"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 5h9M8 2l3 3-3 3M14 11H5m3-3-3 3 3 3" fill="none" stroke="currentColor" stroke-width="2"/></svg>barnabas</h1>
    <span id="source" title=${plain(name)}>${plain(name)}</span>
    <nav class="tabs" aria-label="Views">${offered().map((view, at) => html`
      <button key=${view.name} aria-current=${view.name === state.view ? "page" : undefined}
        title=${at < 9 ? `key ${at + 1}` : undefined} onClick=${() => show(view.name)}>${view.title}</button>`)}</nav>
    <select aria-label="View" value=${state.view} onChange=${event => show(event.currentTarget.value)}>
      ${offered().map(view => html`<option value=${view.name}>${view.title}</option>`)}</select>
    <span class="end"><span id="state" role="status">${said.filter(Boolean).map(plain).join(" · ")}</span>
      <${Scheme}/><button class="help" aria-label="Keys" title="key ?" onClick=${() => set({help: !state.help})}>?</button></span>
  </header>`;
}

// the stylesheet applies the chosen colours; this browser remembers them
const Scheme = () => html`<fieldset class="scheme"><legend>Colours</legend>${[["system", "◐"], ["light", "○"], ["dark", "●"]].map(([name, sign]) => html`
  <label title=${`${name} colours`}><input type="radio" name="scheme" value=${name} aria-label=${name} defaultChecked=${name === (localStorage.getItem("scheme") ?? "system")}
    onChange=${() => { localStorage.setItem("scheme", name); document.dispatchEvent(new Event("scheme")); }}/>${sign}</label>`)}</fieldset>`;

function App() {
  const view = offered().find(view => view.name === state.view) ?? VIEWS[0];
  return html`<${Head}/>
    ${state.problem && html`<p class="problem" role="alert">${plain(state.problem)}</p>`}
    <main class=${view.name}><${view.shows} key=${view.name}/></main>
    ${state.likeThis !== null && html`<${LikeThis} number=${state.likeThis} key=${state.likeThis}/>`}
    ${state.help && html`<${Help}/>`}`;
}

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select") || state.likeThis !== null) return;
  if (event.key === "?") set({help: !state.help});
  else if (event.key === "Escape" && state.help) set({help: false});
  else if (/^[1-9]$/.test(event.key) && event.key <= offered().length) go({view: offered()[event.key - 1].name, problem: ""});
  else return;
  event.preventDefault();
});

onChange(() => render(html`<${App}/>`, document.getElementById("page")));
try {
  const found = await api.source();
  document.title = `${plain(found.name)} – barnabas`;
  set({source: found});
  pause(false);
  restart();
} catch (problem) {
  set({problem: problem.message});
}
