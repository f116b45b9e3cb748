// What leaves the page: copies of an exchange, as text, as bytes, and as the command, the rule or the test that is about it.
import * as api from "./api.js";
import {Menu} from "./menu.js";
import {set, state} from "./store.js";
import {json, plain} from "./text.js";
import {html} from "./vendor/preact.js";

export const copy = text => navigator.clipboard.writeText(text).then(() => {
  set({copied: true});
  setTimeout(() => set({copied: false}), 2000);
}, () => set({problem: "the browser does not let the page copy"}));

export function save(name, blob) {
  const link = Object.assign(document.createElement("a"), {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const quoted = text => /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
const only = found => `connection == ${found.connection} && correlation_id == ${found.correlation_id}`;
// the rule that repeats its error, or else delays such requests
const draft = ({number, error}) => ({exchange: number, direction: "request", ...error ? {do: "respond", settings: `{error: ${error}}`} : {do: "delay"}});
const taken = (form, {number}) => api.take({form, numbers: [number]}).then(({data}) => data.text());
const hex = side => Array.from(atob(side.hex), byte => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
const capture = () => state.source.kind === "capture", alone = () => capture() && state.source.files.length === 1;
const files = () => state.source.files.map(quoted).join(" ");

// label, what is copied, and when there is something to copy
const FORMS = [
  ["JSON", found => taken("jsonl", found)],
  ["Request as JSON", found => json(found.request.value, 2), found => found.request.value !== null],
  ["Response as JSON", found => json(found.response.value, 2), found => found.response.value !== null],
  ["Request in hex", found => hex(found.request), found => found.request.hex],
  ["Response in hex", found => hex(found.response), found => found.response.hex],
  ["barnabas decode …", found => `barnabas decode ${files()} --json --filter ${quoted(only(found))}`, capture],
  ["barnabas replay …", found => `barnabas replay ${files()} -b localhost:9092 --filter ${quoted(only(found))}`, alone],
  ["barnabas open …", found => `barnabas open ${[...state.source.files.slice(0, -1), `${state.source.files.at(-1)}#${found.number}`].map(quoted).join(" ")}`, capture],
  ["Link to this page", () => location.href, () => !capture()],
  ["Rule", found => api.call("POST", "/scenario/draft", JSON.stringify(draft(found))).then(({rule}) => rule)],
  ["test: pytest", found => taken("pytest", found)],
  ["test: Go", found => taken("go", found)],
  ["test: Java", found => taken("java", found)],
  ["test: Node", found => taken("node", found)],
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
  return html`<${Menu} kind="aside copies" label="Copy">
    ${FORMS.filter(([, , has]) => !has || has(found)).map(([label, make]) => html`<button key=${label} onClick=${event => take(event, make)}>${label}</button>`)}<//>`;
}
