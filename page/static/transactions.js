// Transactions: begun, what is in them, ended, how long they were open.
import {usePolled} from "./polled.js";
import {problems, Table} from "./table.js";
import {clock, ms} from "./text.js";
import {html} from "./vendor/preact.js";

export function Transactions() {
  const [found, problem] = usePolled("/transactions");
  const rows = (found?.transactions ?? []).toReversed().map(row => ({...row, kind: row.error || row.outcome === "fenced" ? "error" : row.ended ? "" : "open"}));
  return html`<div class="view">${problems(found, problem)}
    ${found && html`<${Table} label="Transactions" none="No transaction has been seen." rows=${rows} columns=${[
      ["transactional id", row => row.transactional_id], ["client", row => row.client],
      ["producer id", row => `${row.producer_id}, epoch ${row.epoch}`, "number"],
      ["began", row => row.began ? `${clock(row.began)} ${row.by}` : "before"],
      ["partitions", row => row.partitions.join(", ") + (row.more ? ` and ${row.more} more` : "")],
      ["offsets", row => Object.entries(row.offsets).map(([group, count]) => `${group}: ${count}`).join(", ")],
      ["ended", row => row.ended ? clock(row.ended) : "open"], ["outcome", row => row.outcome],
      ["open ms", row => ms(row.open_ms), "number"], ["error", row => row.error],
    ]}/>`}</div>`;
}
