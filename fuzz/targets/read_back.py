"""Fetches the batches that a broker accepted, with another client, and compares.

Differences in words without numbers, so that equal ones are one finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.requests import Asked, question
from barnabas.fuzz.targets.probing import Prober, Unanswered
from barnabas.specs import Malformed, decode_frame, records
from barnabas.specs.error_codes import error_name
from barnabas.specs.keys import FETCH, PRODUCE
from barnabas.specs.records import Batch
from barnabas.specs.records.record import int64

MOVED: Final = frozenset((1, 3, 5, 6, 9))
"""Errors of Fetch that say nothing of what was written: other cases delete records and topics, as they may.
OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER,
REPLICA_NOT_AVAILABLE."""

BY_NAME: Final = 12
"""The newest version of Fetch that names topics."""

OLDEST: Final = 4
"""The oldest that shows batches of magic 2 as they are."""

FOLLOWED: Final = 16
"""Accepted batches of a version of Produce and a mutator that are asked for afterwards."""

PARTITIONS: Final = 4
"""Accepted batches of one case that are asked for."""


class ReadBack:
    """Asks for what was accepted, behind the first cases of each kind. apart: sends a case again, alone."""

    def __init__(self, prober: Prober, apart: Callable[[Case], Observation]) -> None:
        self._prober = prober
        self._apart = apart
        self._followed: Counter[tuple[int, str]] = Counter()

    def look(
        self,
        observation: Observation,
        asked: Asked,
        offered: dict[int, tuple[int, int]],
        *,
        quiet: bool = True,
    ) -> Observation | None:
        """The observation, with what is wrong about what is served in its facts, where that is wrong of what
        the case alone writes, too: others may have deleted the topic, and created another of its name. asked:
        its only request. quiet: nothing else is under way; None: it is to be sent alone once that is so."""
        changes = observation.case.recipe.changes
        kind = (asked.version, changes[-1].mutator if changes else "")
        if self._followed[kind] >= FOLLOWED:
            return observation
        wrong = bool(served(observation, self._prober, offered))
        if wrong and not quiet:
            return None
        self._followed[kind] += 1
        if not wrong:
            return observation
        alone = self._apart(observation.case)
        found = served(alone, self._prober, offered)
        return replace(alone, facts=(*alone.facts, ("served", found))) if found else observation


def served(
    observation: Observation, prober: Prober, offered: dict[int, tuple[int, int]]
) -> list[str] | None:
    """How what is served differs from what was accepted; None where nothing was, or it can't be asked."""
    low, high = offered.get(FETCH, (0, -1))
    version = min(high, BY_NAME)
    if version < max(low, OLDEST):
        return None
    found: list[str] = []
    asked = False
    for topic, partition, base, data in _accepted(observation):
        asked = True
        try:
            there = _fetched(prober, version, topic, partition, base)
            if there is not None:
                found += compared(data, base, there)
        except Unanswered as problem:
            found.append(f"Fetch of it: {problem}")
    return sorted(set(found)) if asked else None


def _accepted(observation: Observation) -> Iterator[tuple[str, int, int, bytes]]:
    """Topic, partition, the offset that was given, and the record set of what had no error."""
    asked = question(observation.sent).requests
    if len(asked) != 1 or len(observation.replies) != 1 or asked[0].key != PRODUCE:
        return
    data = b"".join(observation.sent)[4:]
    try:
        request = decode_frame(data, "request").body
        version = asked[0].version
        reply = decode_frame(observation.replies[0], "response", key=PRODUCE, version=version).body
    except (Malformed, LookupError):
        return
    sent = {
        (topic.get("name"), part["index"]): part["records"]
        for topic in request["topic_data"]
        for part in topic["partition_data"]
    }
    count = 0
    for topic in reply["responses"]:
        for part in topic["partition_responses"]:
            found = sent.get((topic.get("name"), part["index"]))
            taken = not part["error_code"] and part["base_offset"] >= 0
            if found and taken and topic.get("name") and count < PARTITIONS:
                count += 1
                yield topic["name"], part["index"], part["base_offset"], found


def _fetched(prober: Prober, version: int, topic: str, partition: int, offset: int) -> bytes | None:
    """What is served; None where the log is not what it was any more. Raises Unanswered."""
    body: dict[str, Any] = {"max_wait_ms": 0, "min_bytes": 0, "topics": []}
    if version >= 7:
        body |= {"session_id": 0, "session_epoch": -1, "forgotten_topics_data": []}
    wanted = {"partition": partition, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
    body["topics"] = [{"topic": topic, "partitions": [wanted]}]
    answer = prober.ask(FETCH, version, body)
    if answer.get("error_code"):
        raise Unanswered(f"answered with {error_name(answer['error_code'])}")
    for one in answer["responses"]:
        for part in one["partitions"]:
            if part["error_code"] in MOVED or -1 < part["high_watermark"] <= offset:
                return None
            if part["error_code"]:
                raise Unanswered(f"answered with {error_name(part['error_code'])}")
            return bytes(part["records"] or b"")
    raise Unanswered("the partition is not in the response")


def compared(sent: bytes, base: int, fetched: bytes) -> list[str]:
    """How batches that were accepted at an offset differ from what is served from there. What follows the
    last whole one a broker cuts off (UnifiedLog.trimInvalidBytes).

    >>> from barnabas.specs.records import build
    >>> from barnabas.specs.records.record import Record
    >>> data = build([Record(0, 0, None, b"a")])
    >>> compared(data, 0, data), compared(data, 0, b"")
    ([], ['nothing is served at its offset'])
    """
    if _is_retry(sent, base, fetched):
        return []
    try:
        batches = list(records.read(sent))
        said = [_content(record) for batch in batches for record in batch.records()]
        found = list(_flaws(batches))
    except Malformed as problem:
        return [f"it can't be read: {_plain(problem.reason)}"]
    try:
        there: list[tuple[object, ...]] = []
        for batch in records.read(fetched):
            if batch.last_offset < base or len(there) >= len(said):
                continue
            if not batch.crc_ok:
                found.append("what is served has a wrong checksum")
            there += [_content(one) for one in batch.records() if one.offset >= base]
    except Malformed as problem:
        return [*found, f"what is served can't be read: {_plain(problem.reason)}"]
    if said and not there:
        found.append("nothing is served at its offset")
    elif there[: len(said)] != said:
        found.append("other records are served")
    return found


def _flaws(batches: Sequence[Batch]) -> Iterator[str]:
    """Yield what is wrong with batches that were accepted. Raises Malformed."""
    if any(not batch.crc_ok for batch in batches):
        yield "its checksum was wrong"
    if any(batch.count not in (None, len(batch.records())) for batch in batches):
        yield "it announced another number of records"
    if any(batch.count not in (None, _offsets(batch)) for batch in batches):
        yield "it announced another number of offsets"


def _is_retry(sent: bytes, base: int, fetched: bytes) -> bool:
    """Whether what is served there is another batch that a producer had sent under the same sequences before:
    what is sent then is answered with the offset of the first, and its records are not read (KIP-98)."""
    try:
        there = [batch for batch in records.read(fetched) if batch.base_offset == base]
        batches = list(records.read(sent))
    except Malformed:
        return False
    return any(
        one.producer_id >= 0 and _sequences(one) == _sequences(other) and one.crc != other.crc
        for one in there
        for other in batches
    )


def _sequences(batch: Batch) -> tuple[int, ...]:
    return batch.producer_id, batch.producer_epoch, batch.base_sequence, _offsets(batch)


def _offsets(batch: Batch) -> int:
    """How many a batch takes by its last_offset_delta: a producer's has a record for each (LogValidator)."""
    return int64(batch.last_offset - (batch.base_offset or 0) + 1)


def _content(record: Any) -> tuple[object, ...]:
    return record.key, record.value, record.headers


def _plain(reason: str) -> str:
    return "".join("#" if letter.isdigit() else letter for letter in reason)
