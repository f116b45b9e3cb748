// What the page shows, in one place. `set` changes it, and draws once for all changes of a frame.
const address = new URLSearchParams(location.hash.slice(1));

export const state = {
  view: address.get("view") ?? "exchanges",
  filter: address.get("filter") ?? "",
  chosen: /^\d{1,15}$/.test(address.get("at")) ? Number(address.get("at")) : null,
  source: {kind: "", name: "", first: 0, end: 0, over: false, trouble: ""},
  problem: "",
  help: false,
  likeThis: null,  // the exchange whose like a rule is to be about
  marked: null,  // {rule, numbers}: exchanges on which a rule would have fired
};

let draw = () => {}, waits = false;
export const onChange = function_ => { draw = function_; };

export function set(changes = {}) {
  Object.assign(state, changes);
  if (waits) return;
  waits = true;
  requestAnimationFrame(() => {
    waits = false;
    draw();
  });
}

// the same, and what stands in the address, so that it can be kept and sent
export function go(changes) {
  set(changes);
  const now = new URLSearchParams();
  if (state.view !== "exchanges") now.set("view", state.view);
  if (state.filter) now.set("filter", state.filter);
  if (state.chosen !== null) now.set("at", state.chosen);
  history.replaceState(null, "", "#" + now);
}
