// Requests that clients sent again: their attempts are chains, which the list folds if it is asked to. This browser remembers that.
import * as api from "./api.js";
import {Folded} from "./folded.js";
import {go, set, state} from "./store.js";
import {followed} from "./stream.js";

const chains = new Map(), unfolded = new Set();  // numbers of attempts, by that of the first; the first ones of those that are open
let folding = localStorage.getItem("fold retries") === "true", after = -1, asking = false, list = null;

export const folds = () => folding;

export function fold(on) {
  folding = on;
  localStorage.setItem("fold retries", on);
  list = null;
  set();
}

// what the list shows: a sorted one each attempt in its place; and the chosen exchange is not folded away
export function listed() {
  const {matches, order} = followed;
  if (!list?.shows(matches)) list = new Folded(matches, folding && !order ? chains : new Map(), unfolded);
  const chain = list.heads.get(list.headOf.get(state.chosen));
  if (!chain || chain.open) return list;
  unfolded.add(chain.first);
  list = null;
  return listed();
}

// shows the earlier attempts of an exchange, or folds them: then the last attempt is chosen in place of one of them
export function unfold(number, open) {
  const {heads, headOf} = listed(), head = headOf.get(number) ?? number, chain = heads.get(head);
  if (!chain || chain.open === open) return;
  if (open) unfolded.add(chain.first);
  else unfolded.delete(chain.first);
  list = null;
  go({chosen: headOf.get(state.chosen) === head ? head : state.chosen});
}

// asks for the retries among the exchanges that the list has
export async function follow() {
  if (!folding || asking) return;
  asking = true;
  try {
    while (after < followed.after) {
      const found = await api.retries(after);
      for (const [number, first] of found.retries) {
        if (!chains.has(first)) chains.set(first, [first]);
        chains.get(first).push(number);
      }
      after = found.after;
      forget(state.source.first);
      list = null;
      set();
    }
  } catch (problem) {
    set({problem: problem.message});
  } finally {
    asking = false;
  }
}

// what the history no longer has
function forget(held) {
  for (const [first, numbers] of chains) {
    const rest = numbers[0] < held ? numbers.filter(number => number >= held) : numbers;
    if (rest.length) chains.set(first, rest);
    else if (chains.delete(first)) unfolded.delete(first);
  }
}
