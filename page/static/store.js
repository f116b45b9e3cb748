// What the page shows, in one place. `set` changes it, and draws once for all changes of a frame.
const kept = () => {
  const address = new URLSearchParams(location.hash.slice(1)), at = address.get("at"), opened = /^\d{1,15}$/.test(at);
  return {view: address.get("view") ?? (address.has("filter") || opened ? "exchanges" : "overview"), filter: address.get("filter") ?? "", chosen: opened ? Number(at) : null, opened};
};

export const state = {
  ...kept(),
  source: {kind: "", name: "", first: 0, end: 0, over: false, trouble: "", plain: "^$"},
  problem: "",
  refused: "",  // why the filter is none
  help: false,
  copied: false,  // just now
  likeThis: null,  // the exchange whose like a rule is to be about
  marked: null,  // {rule, numbers}: exchanges on which a rule would have fired
};

let draw = () => {}, waits = false;
export const onChange = function_ => { draw = function_; };

export function set(changes = {}) {
  const {filter} = state;
  Object.assign(state, changes);
  if (state.filter !== filter) {
    state.refused = "";
    document.dispatchEvent(new Event("filter"));
  }
  if (waits) return;
  waits = true;
  requestAnimationFrame(() => {
    waits = false;
    draw();
  });
}

// the same, and what stands in the address, so that it can be kept and sent
export function go(changes) {
  const turns = changes.view !== undefined && changes.view !== state.view;
  set(changes);
  const now = new URLSearchParams();
  now.set("view", state.view);
  if (state.filter) now.set("filter", state.filter);
  if (state.chosen !== null) now.set("at", state.chosen);
  history[turns ? "pushState" : "replaceState"](null, "", "#" + now);
}

// Back, or another address in this tab: one with a token is a new start
addEventListener("hashchange", () => {
  if (new URLSearchParams(location.hash.slice(1)).has("token")) location.reload();
  else set({...kept(), problem: ""});
});
