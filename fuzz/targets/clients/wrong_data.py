"""Whether a read_committed consumer delivered what is committed, where the case leaves this determined.

The log of a context's session says which records are visible. The response of the case may change those of
some partitions; the records of all others are as the log has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from barnabas.fuzz.bench_broker.broker import Broker
from barnabas.fuzz.bench_broker.cluster import PARTITIONS
from barnabas.fuzz.cases.case import Case
from barnabas.specs import Malformed, decode_frame
from barnabas.specs.keys import FETCH

ABORTED: Final = "delivers a record that is not committed"
SKIPPED: Final = "skips a committed record"

_ALL: Final = frozenset(range(PARTITIONS))

_KEPT: Final = 64
"""Records that programs report at most (peers/clients/programs/lines.py)."""


def wrong_data(
    case: Case, broker: Broker, delivered: Sequence[Sequence[Any]] | None
) -> tuple[str, str, int, int] | None:
    """Return what a consumer did wrong, the context, the partition and the offset; None if nothing.

    A record was skipped if a later one of its partition was delivered, or the consumer went on to fetch from
    a later offset. Only partitions count that were fetched with read_committed.

    Args:
        case: The case.
        broker: The broker of its session.
        delivered: The records that the application received, as programs report them; None if unknown.
    """
    visible = broker.context.visible
    if visible is None or delivered is None or len(delivered) >= _KEPT:
        return None
    for partition in sorted(_determined(case, broker) & broker.read_to.keys()):
        offsets = [offset for number, offset, *_ in delivered if number == partition]
        for offset in offsets:
            if offset not in visible:
                return ABORTED, broker.context.name, partition, offset
        missing = _skipped(offsets, visible, broker.read_to[partition])
        if missing is not None:
            return SKIPPED, broker.context.name, partition, missing
    return None


def _skipped(offsets: Sequence[int], visible: Sequence[int], read_to: int) -> int | None:
    """Return the first visible offset that was not delivered before a later one, or before `read_to`."""
    missing = list(visible)
    for offset in offsets:
        if offset in missing:
            if offset != missing[0]:
                return missing[0]
            missing.remove(offset)
    return missing[0] if missing and missing[0] < read_to else None


def _determined(case: Case, broker: Broker) -> frozenset[int]:
    """Return the partitions whose records the case leaves as the broker would have sent them.

    A response without a partition changes nothing for it. If the response can't be read, or has a partition
    that was not requested, a client may take anything from it.
    """
    if not broker.replaced:
        return _ALL  # the case was not sent
    sent, version = b"".join(case.chunks), case.recipe.seed.version
    if case.recipe.seed.key != FETCH or int.from_bytes(sent[:4], "big") != len(sent) - 4:
        return frozenset()
    valid = _partitions(broker.replaced[4:], version)
    try:
        mutated = _partitions(sent[4:], version)
    except Malformed:
        return frozenset()
    if not mutated.keys() <= valid.keys():
        return frozenset()
    return _ALL - {index for (topic, index), each in mutated.items() if valid[topic, index] != each}


def _partitions(frame: bytes, version: int) -> Mapping[tuple[Any, int], list[Any]]:
    """Return what a Fetch response has of each partition, by topic and number. Raises Malformed."""
    body = decode_frame(frame, "response", key=FETCH, version=version).body
    partitions: dict[tuple[Any, int], list[Any]] = {}
    for topic in body["responses"]:
        named = topic.get("topic_id", topic.get("topic"))
        for each in topic["partitions"]:
            partitions.setdefault((named, each["partition_index"]), []).append(each)
    return partitions
