"""What the demo claims at its end, and whether it held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from barnabas.captures.kafka.exchange import Exchange
from barnabas.cli.demo.clients import Received
from barnabas.specs import records


class Claim(NamedTuple):
    """A sentence, whether it is true, and what was seen."""

    text: str
    held: bool


def all_arrived(topic: str, sent: Received, received: Received) -> Claim:
    """Every record that was sent arrived; those that came twice are counted."""
    wanted = {value for values in sent.values() for value in values}
    counts = Counter(value for values in received.values() for value in values)
    again = sum(count - 1 for count in counts.values())
    text = f"{topic}: all {len(wanted)} records produced were consumed"
    text += f", {again} of them twice because of the rebalance" if again else ", each once"
    return Claim(text, set(counts) == wanted)


def in_order(topic: str, sent: Received, received: Received) -> Claim:
    """In each partition records first arrived in the order in which they were sent."""
    firsts = {partition: list(dict.fromkeys(values)) for partition, values in received.items()}
    text = f"{topic}: consumed in the order in which they were produced, in each of {len(sent)} partitions"
    return Claim(text, firsts == sent)


def in_log_order(
    topic: str, exchanges: Iterable[Exchange], sent: Received, received: Received
) -> Claim:
    """The order in which records arrived is that of the offsets that Produce was answered with."""
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
        partition: [value for _, values in sorted(found) for value in values]
        for partition, found in batches.items()
    }
    moved = sum(
        one != other
        for partition, values in sent.items()
        for one, other in zip(values, received.get(partition, ()), strict=False)
    )
    text = (
        f"{topic}: {moved} of {sum(map(len, sent.values()))} records reordered; consumed in the order in "
        "which the reorder rule let Produce requests pass"
    )
    return Claim(text, received == expected)
