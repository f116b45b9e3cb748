// Bookmarks on exchanges, with notes, which the server keeps next to the capture.
import {call, get} from "./api.js";
import {go, set} from "./store.js";
import {count, plain} from "./text.js";
import {html} from "./vendor/preact.js";

export const bookmarks = new Map();  // the notes by the numbers of exchanges

export async function load() {
  const all = await get("/bookmarks");
  bookmarks.clear();
  for (const {number, note} of all) bookmarks.set(number, note);
  set();
}

async function change(method, number, note) {
  try {
    await call(method, `/bookmarks/${number}`, note);
    await load();
  } catch (problem) {
    set({problem: problem.message});
  }
}

export const toggle = number => bookmarks.has(number) ? change("DELETE", number) : change("PUT", number, "");

export const Note = ({number}) => bookmarks.has(number) ? html`<p class="note"><label>★ <span class="unseen">Note</span><textarea rows="2" placeholder="a note on this exchange"
    value=${bookmarks.get(number)} onKeyDown=${event => event.stopPropagation()} onChange=${event => change("PUT", number, event.currentTarget.value)}></textarea></label></p>` : "";

export const BookmarkMenu = () => bookmarks.size ? html`<details class="bookmarks"><summary>★ ${count(bookmarks.size)}</summary>
  <div class="menu" role="group" aria-label="Bookmarks">${[...bookmarks].map(([number, note]) => html`<button key=${number} class="link"
    onClick=${event => { event.currentTarget.closest("details").open = false; go({chosen: number}); set({opened: true}); }}>#${number} ${plain(note)}</button>`)}</div></details>` : "";
