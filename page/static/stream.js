// Follows the exchanges that match, while somebody looks: a hidden page asks for nothing.
import * as api from "./api.js";
import {Matches, Ordered} from "./matches.js";
import {set, state} from "./store.js";

// order: null, or the column by which the list is sorted: what is sorted stays as it is
export const followed = {matches: new Matches(), after: -1, skipped: 0, paused: false, order: null};
let running = null, turn = 0;

// what is shown stays until the first that matches the new filter are known: while it is typed, it may be none
export function restart() {
  turn++;
  if (followed.order) followed.paused = false;
  Object.assign(followed, {after: -1, order: null});
  stop();
  start();
}

function stop() {
  running?.abort();
  running = null;
}

async function start() {
  if (running || document.hidden || followed.paused) return;
  const mine = running = new AbortController();
  try {
    await api.follow(followed.after, state.filter, mine.signal, found => {
      if (running !== mine) return;
      if (followed.after < 0) Object.assign(followed, {matches: new Matches(), skipped: 0});
      followed.matches.add(found.runs);
      followed.matches.drop(found.first);
      followed.after = found.after;
      followed.skipped += found.skipped;
      set({source: {...state.source, ...found}, problem: "", refused: ""});
    });
    if (running === mine) running = null;
    if (!state.source.over) setTimeout(start, 1000);
  } catch (problem) {
    if (running !== mine) return;
    running = null;
    if (problem.status === 400) set({refused: problem.message});
    else set({problem: problem.message, source: {...state.source, over: state.source.over || !problem.status}});  // who answers nothing is gone
  }
}

export function pause(paused) {
  followed.paused = paused;
  if (paused) stop();
  else if (followed.order) restart();
  else start();
  set();
}

// first the largest, then the smallest, then as they came
export async function order(column) {
  const {order: before} = followed, descending = before?.column !== column;
  if (before?.column === column && !before.descending) return pause(false);
  pause(true);
  const mine = ++turn;
  try {
    const numbers = await api.order((descending ? "-" : "") + column, state.filter);
    if (mine !== turn) return;
    Object.assign(followed, {matches: new Ordered(numbers), order: {column, descending}});
  } catch (problem) {
    set({problem: problem.message});
  }
  set();
}

document.addEventListener("filter", restart);
document.addEventListener("visibilitychange", () => document.hidden ? stop() : state.source.over || start());
