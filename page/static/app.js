// The page: its head, the view that is chosen, and the keys that hold everywhere.
import * as api from "./api.js";
import {useBookmarks} from "./bookmarks.js";
import {Help} from "./help.js";
import {go, onChange, set, state} from "./store.js";
import {pause, restart} from "./stream.js";
import {plain, plural} from "./text.js";
import {html, render, useEffect, useState} from "./vendor/preact.js";

// a view is one file and one line here, and is loaded when it is opened; those of a live proxy only need one
const VIEWS = [
  {name: "overview", title: "Overview", load: () => import("./overview.js").then(loaded => loaded.Overview)},
  {name: "exchanges", title: "Exchanges", load: () => import("./exchanges.js").then(loaded => loaded.Exchanges)},
  {name: "sequence", title: "Sequence", load: () => import("./sequence.js").then(loaded => loaded.Sequence)},
  {name: "groups", title: "Groups", load: () => import("./groups.js").then(loaded => loaded.Groups)},
  {name: "transactions", title: "Transactions", load: () => import("./transactions.js").then(loaded => loaded.Transactions)},
  {name: "topics", title: "Topics", load: () => import("./topics.js").then(loaded => loaded.Topics)},
  {name: "latency", title: "Latency", load: () => import("./latency.js").then(loaded => loaded.Latency)},
  {name: "breakpoints", title: "Breakpoints", load: () => import("./breakpoints.js").then(loaded => loaded.Breakpoints), live: true},
  {name: "network", title: "Network", load: () => import("./network.js").then(loaded => loaded.Network), live: true},
  {name: "rules", title: "Rules", load: () => import("./rules.js").then(loaded => loaded.Rules)},
];
const LIKE_THIS = {load: () => import("./like_this.js").then(loaded => loaded.LikeThis)};
const offered = () => VIEWS.filter(view => !view.live || state.source.kind === "live");

function Head() {
  const {name, kind, first, end, over, trouble} = state.source;
  const said = [state.copied ? "copied" : "", trouble, kind === "live" && over ? "barnabas has stopped" : "", plural(end - first, "exchange"), first ? `${plural(first, "earlier one")} fell out` : "",
    kind === "capture" && !over ? "reading …" : ""];
  const show = name => go({view: name, problem: ""});
  return html`<header class="top">
    <h1 class="brand"><svg viewBox="0 0 16 16" aria-hidden="true"><use href="page/icon.svg#icon"/></svg>barnabas</h1>
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

// shows what a file has, once it is loaded
function Loaded({of, ...given}) {
  const [, loaded] = useState(false), Shown = of.shown;
  useEffect(() => {
    let over = false;
    if (!of.shown) of.load().then(shown => { of.shown = shown; over || loaded(true); }, () => over || set({problem: "barnabas has stopped: start it again, and open its new address"}));
    return () => { over = true; };
  }, []);
  return Shown ? html`<${Shown} ...${given}/>` : html`<p class="none loading" role="status">Loading …</p>`;
}

function App() {
  useBookmarks();
  const view = offered().find(view => view.name === state.view) ?? VIEWS[0];
  return html`<${Head}/>
    ${state.problem && html`<p class="problem" role="alert">${plain(state.problem)}</p>`}
    <main class=${view.name}><${Loaded} of=${view} key=${view.name}/></main>
    ${state.likeThis !== null && html`<${Loaded} of=${LIKE_THIS} number=${state.likeThis} key=${state.likeThis}/>`}
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
