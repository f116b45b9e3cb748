// Copies of an exchange: as text, as bytes, and as the command, the rule or the test that is about it.
import * as api from "./api.js";
import {set, state} from "./store.js";
import {json, plain} from "./text.js";
import {html} from "./vendor/preact.js";

export const copy = text => navigator.clipboard.writeText(text).then(() => {
  set({copied: true});
  setTimeout(() => set({copied: false}), 2000);
}, () => set({problem: "the browser does not let the page copy"}));

const quoted = text => /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
const only = found => `connection == \`${found.connection}\` && correlation_id == \`${found.correlation_id}\``;
const taken = (form, {number}) => api.take({form, numbers: [number]}).then(({data}) => data.text());
const hex = side => Array.from(atob(side.hex), byte => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
const capture = () => state.source.kind === "capture";

// label, what is copied, and when there is something to copy
const FORMS = [
  ["JSON", found => taken("jsonl", found)],
  ["Request as JSON", found => json(found.request.value, 2), found => found.request.value !== null],
  ["Response as JSON", found => json(found.response.value, 2), found => found.response.value !== null],
  ["Request in hex", found => hex(found.request), found => found.request.hex],
  ["Response in hex", found => hex(found.response), found => found.response.hex],
  ["barnabas decode …", found => `barnabas decode ${quoted(state.source.name)} --json --filter ${quoted(only(found))}`, capture],
  ["barnabas replay …", found => `barnabas replay ${quoted(state.source.name)} -b localhost:9092 --filter ${quoted(only(found))}`, capture],
  ["barnabas open …", found => `barnabas open ${quoted(`${state.source.name}#${found.number}`)}`, capture],
  ["Link to this page", () => location.href, () => !capture()],
  ["Rule", found => api.call("POST", "/scenario/draft", JSON.stringify({exchange: found.number, do: "delay", direction: "request"})).then(draft => draft.rule)],
  ["Test for pytest", found => taken("pytest", found)],
];

// the line that Take away has of it: with what was asked and answered
export const copyJson = number => taken("jsonl", {number}).then(copy).catch(problem => set({problem: problem.message}));

export function CopyMenu({found}) {
  const take = async (event, make) => {
    event.currentTarget.closest("details").open = false;
    try {
      await copy(await make(found));
    } catch (problem) {
      set({problem: plain(problem.message)});
    }
  };
  return html`<details class="aside copies"><summary>Copy</summary><div class="menu" role="group" aria-label="Copy">
    ${FORMS.filter(([, , has]) => !has || has(found)).map(([label, make]) => html`<button key=${label} onClick=${event => take(event, make)}>${label}</button>`)}</div></details>`;
}
