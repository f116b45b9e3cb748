// Topics: who writes, who reads, how much and how fast.
import {usePolled} from "./polled.js";
import {problems, Table} from "./table.js";
import {bytes, clock, count} from "./text.js";
import {html} from "./vendor/preact.js";

export function Topics() {
  const [found, problem] = usePolled("/topics");
  return html`<div class="view">${problems(found, problem)}
    ${found && html`<${Table} label="Topics" none="Nobody has written or read." rows=${found.flows} columns=${[
      ["topic", row => row.topic], ["is", row => row.direction === "write" ? "written by" : "read by"], ["client", row => row.client],
      ["group or producer id", row => row.group ?? row.producer_id],
      ["records", row => count(row.records), "number"], ["size", row => bytes(row.bytes), "number"],
      ["records/s", row => row.records_per_s.toFixed(1), "number"], ["KiB/s", row => (row.bytes_per_s / 1024).toFixed(1), "number"],
      ["refused", row => row.refused || "", "number"], ["last", row => clock(row.last)],
    ]}/><p class="none">Rates are of the last 10 s of traffic. Record counts are those of whole batches.</p>`}</div>`;
}
