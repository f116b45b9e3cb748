// Bookmarks on exchanges, with notes, which the server keeps next to the capture.
import {call, get} from "./api.js";
import {Menu} from "./menu.js";
import {go, set, state} from "./store.js";
import {count, plain} from "./text.js";
import {html, useEffect} from "./vendor/preact.js";

export const bookmarks = new Map();  // the notes by the numbers of exchanges

export async function load() {
  const all = await get("/bookmarks");
  bookmarks.clear();
  for (const {number, note} of all) bookmarks.set(number, note);
  set();
}

// those of exchanges that are read meanwhile are known when the capture is over
export const useBookmarks = () => useEffect(() => { load().catch(problem => set({problem: problem.message})); }, [state.source.over]);

async function change(method, number, note) {
  try {
    await call(method, `/bookmarks/${number}`, note);
    await load();
  } catch (problem) {
    set({problem: problem.message});
  }
}

// a stored note that is not shown yet is shown, not replaced
export async function toggle(number) {
  if (bookmarks.has(number)) return change("DELETE", number);
  try {
    await load();
  } catch (problem) {
    return set({problem: problem.message});
  }
  return bookmarks.has(number) || change("PUT", number, "");
}

export const Note = ({number}) => bookmarks.has(number) ? html`<p class="note"><label>★ <span class="unseen">Note</span><textarea rows="2" placeholder="a note on this exchange"
    key=${number} defaultValue=${bookmarks.get(number)} onChange=${event => change("PUT", number, event.currentTarget.value)}></textarea></label></p>` : "";

export const BookmarkMenu = () => bookmarks.size ? html`<${Menu} kind="bookmarks" label=${`★ ${count(bookmarks.size)}`} name="Bookmarks">${[...bookmarks].map(([number, note]) => html`<button key=${number} class="link"
  onClick=${event => { event.currentTarget.closest("details").open = false; go({chosen: number}); set({opened: true}); }}>#${number} ${plain(note)}</button>`)}<//>` : "";
