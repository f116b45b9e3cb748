"""The check `scattered`: records with the same key are in several partitions, so that their order is open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from barnabas.experiments.clients.traffic import Round
from barnabas.experiments.explore.finding import Finding
from barnabas.experiments.explore.log import Log


def scattered(rounds: Sequence[Round], topic: str, log: Log) -> Iterator[Finding]:
    """Yield a finding for each key whose records are in several partitions of a topic.

    Records with a partition of their own are left out.

    Args:
        rounds: the sent records (`traffic.plan`).
        topic: the topic of records that name none.
        log: the brokers' log.
    """
    keys = {
        (record.get("topic", topic), record["id"]): record["key"]
        for sends in rounds
        for send in sends
        for record in send
        if "key" in record and "partition" not in record
    }
    partitions: dict[tuple[str, str], set[int]] = {}
    for record in log.not_aborted:
        key = keys.get((record.topic, record.id))
        if key is not None:
            partitions.setdefault((record.topic, key), set()).add(record.partition)
    for (name, key), numbers in partitions.items():
        if len(numbers) > 1:
            listed = ", ".join(map(str, sorted(numbers)))
            text = f"records with the key {key} are in the partitions {listed} of {name}"
            yield Finding(kind="scattered", text=text)
