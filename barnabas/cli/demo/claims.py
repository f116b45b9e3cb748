"""The claims of the demo, and whether they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from barnabas.captures.kafka.exchange import Exchange
from barnabas.cli.demo.clients import Received
from barnabas.specs import records


class Claim(NamedTuple):
    """A sentence with the observed numbers, and whether it is true."""

    text: str
    held: bool


def all_arrived(topic: str, sent: Received, received: Received) -> Claim:
    """Check that every record that was sent arrived; count those that arrived twice."""
    expected = {value for values in sent.values() for value in values}
    counts = Counter(value for values in received.values() for value in values)
    duplicates = sum(count - 1 for count in counts.values())
    text = f"{topic}: all {len(expected)} records produced were consumed"
    text += (
        f", {duplicates} of them twice because of the rebalance" if duplicates else ", each once"
    )
    return Claim(text, set(counts) == expected)


def in_order(topic: str, sent: Received, received: Received) -> Claim:
    """Check that the records of each partition first arrived in the order in which they were sent."""
    firsts = {partition: list(dict.fromkeys(values)) for partition, values in received.items()}
    text = f"{topic}: consumed in the order in which they were produced, in each of {len(sent)} partitions"
    return Claim(text, firsts == sent)


def in_log_order(
    topic: str, exchanges: Iterable[Exchange], sent: Received, received: Received
) -> Claim:
    """Check that records arrived in the order of the offsets in the Produce responses."""
    batches: dict[int, list[tuple[int, list[str]]]] = {}
    for exchange in exchanges:
        if exchange.api != "Produce" or exchange.client_id != topic or not exchange.response:
            continue
        offsets = {
            partition["index"]: partition["base_offset"]
            for response in exchange.response["responses"]
            for partition in response["partition_responses"]
        }
        for data in (exchange.request or {})["topic_data"]:
            for partition in data["partition_data"]:
                values = [
                    (record.value or b"").decode()
                    for batch in records.read(partition["records"])
                    for record in batch
                ]
                index = partition["index"]
                batches.setdefault(index, []).append((offsets[index], values))
    expected = {
        partition: [value for _, values in sorted(batch_values) for value in values]
        for partition, batch_values in batches.items()
    }
    moved = sum(
        sent_value != received_value
        for partition, values in sent.items()
        for sent_value, received_value in zip(values, received.get(partition, ()), strict=False)
    )
    text = (
        f"{topic}: {moved} of {sum(map(len, sent.values()))} records reordered; consumed in the order in "
        "which the reorder rule let Produce requests pass"
    )
    return Claim(text, received == expected)
