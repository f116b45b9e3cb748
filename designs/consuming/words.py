"""Texts about partitions and offsets for the user."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.designs.leaders import TopicPartition, by_topic


def positions_of(start: Mapping[TopicPartition, int]) -> str:
    """Describe partitions with the offsets from which they are fetched; `-`: unknown."""
    offsets = {
        partition: "-" if offset < 0 else str(offset) for partition, offset in sorted(start.items())
    }
    return " ".join(
        f"{topic}[{' '.join(f'{number}:{at}' for number, at in parts)}]"
        for topic, parts in by_topic(offsets.items())
    )
