"""A check of accepted batches: another client fetches them, and they must be what was sent.

Differences are described without numbers, so that equal ones are one finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.requests import SentRequest, parse_requests
from barnabas.fuzz.targets.prober import Prober, Unanswered
from barnabas.specs import Malformed, decode_frame, records
from barnabas.specs.error_codes import error_name
from barnabas.specs.keys import FETCH, PRODUCE
from barnabas.specs.records import Batch
from barnabas.specs.records.record import int64

MOVED: Final = frozenset((1, 3, 5, 6, 9))
"""Errors of Fetch that do not concern the batch, since other cases may delete records and topics:
OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER,
REPLICA_NOT_AVAILABLE."""

BY_NAME: Final = 12
"""The newest version of Fetch that names topics."""

OLDEST: Final = 4
"""The oldest version that returns batches of magic 2 unchanged."""

FOLLOWED: Final = 16
"""Accepted batches of one Produce version and mutator that are checked."""

PARTITIONS: Final = 4
"""Accepted batches of one case that are checked."""


class ReadBack:
    """Checks accepted batches of the first cases of each kind.

    apart: sends a case again, alone.
    """

    def __init__(self, prober: Prober, apart: Callable[[Case], Observation]) -> None:
        self._prober = prober
        self._apart = apart
        self._followed: Counter[tuple[int, str]] = Counter()

    def look(
        self,
        observation: Observation,
        request: SentRequest,
        offered: dict[int, tuple[int, int]],
        *,
        quiet: bool = True,
    ) -> Observation | None:
        """Return the observation, with the fact `served_differences` if the served batch differs.

        The case must show the difference when it is sent alone, too: others may have deleted the topic and
        created it again.

        Args:
            observation: The observation of a case with one Produce request.
            request: The request.
            offered: The versions that the broker offers.
            quiet: No other case is in flight.

        Returns:
            None if the case must be sent alone once no other is in flight.
        """
        changes = observation.case.recipe.changes
        kind = (request.version, changes[-1].mutator if changes else "")
        if self._followed[kind] >= FOLLOWED:
            return observation
        wrong = bool(served_differences(observation, self._prober, offered))
        if wrong and not quiet:
            return None
        self._followed[kind] += 1
        if not wrong:
            return observation
        alone = self._apart(observation.case)
        differences = served_differences(alone, self._prober, offered)
        return (
            replace(alone, facts=(*alone.facts, ("served", differences)))
            if differences
            else observation
        )


def served_differences(
    observation: Observation, prober: Prober, offered: dict[int, tuple[int, int]]
) -> list[str] | None:
    """Return how the served batches differ from the accepted ones.

    None if no batch was accepted, or Fetch is unavailable.
    """
    low, high = offered.get(FETCH, (0, -1))
    version = min(high, BY_NAME)
    if version < max(low, OLDEST):
        return None
    differences: list[str] = []
    was_accepted = False
    for topic, partition, base, data in _accepted(observation):
        was_accepted = True
        try:
            fetched = _fetched(prober, version, topic, partition, base)
            if fetched is not None:
                differences += compare_batches(data, base, fetched)
        except Unanswered as problem:
            differences.append(f"Fetch of it: {problem}")
    return sorted(set(differences)) if was_accepted else None


def _accepted(observation: Observation) -> Iterator[tuple[str, int, int, bytes]]:
    """Yield topic, partition, base offset and record set of each accepted batch."""
    requests = parse_requests(observation.sent).requests
    if len(requests) != 1 or len(observation.replies) != 1 or requests[0].key != PRODUCE:
        return
    data = b"".join(observation.sent)[4:]
    try:
        request = decode_frame(data, "request").body
        version = requests[0].version
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
            records_sent = sent.get((topic.get("name"), part["index"]))
            taken = not part["error_code"] and part["base_offset"] >= 0
            if records_sent and taken and topic.get("name") and count < PARTITIONS:
                count += 1
                yield topic["name"], part["index"], part["base_offset"], records_sent


def _fetched(prober: Prober, version: int, topic: str, partition: int, offset: int) -> bytes | None:
    """Return the served bytes; None if the log was changed meanwhile. Raises Unanswered."""
    body: dict[str, Any] = {"max_wait_ms": 0, "min_bytes": 0, "topics": []}
    if version >= 7:
        body |= {"session_id": 0, "session_epoch": -1, "forgotten_topics_data": []}
    partition_body = {
        "partition": partition,
        "fetch_offset": offset,
        "partition_max_bytes": 1 << 20,
    }
    body["topics"] = [{"topic": topic, "partitions": [partition_body]}]
    answer = prober.ask(FETCH, version, body)
    if answer.get("error_code"):
        raise Unanswered(f"answered with {error_name(answer['error_code'])}")
    for topic_response in answer["responses"]:
        for part in topic_response["partitions"]:
            if part["error_code"] in MOVED or -1 < part["high_watermark"] <= offset:
                return None
            if part["error_code"]:
                raise Unanswered(f"answered with {error_name(part['error_code'])}")
            return bytes(part["records"] or b"")
    raise Unanswered("the partition is not in the response")


def compare_batches(sent: bytes, base: int, fetched: bytes) -> list[str]:
    """Return how batches accepted at an offset differ from what is served from there.

    A broker cuts off what follows the last whole batch (UnifiedLog.trimInvalidBytes).

    >>> from barnabas.specs.records import build
    >>> from barnabas.specs.records.record import Record
    >>> data = build([Record(0, 0, None, b"a")])
    >>> compare_batches(data, 0, data), compare_batches(data, 0, b"")
    ([], ['nothing is served at its offset'])
    """
    if _is_retry(sent, base, fetched):
        return []
    try:
        batches = list(records.read(sent))
        sent_records = [_content(record) for batch in batches for record in batch.records()]
        differences = list(_flaws(batches))
    except Malformed as problem:
        return [f"it can't be read: {_plain(problem.reason)}"]
    try:
        served_records: list[tuple[object, ...]] = []
        for batch in records.read(fetched):
            if batch.last_offset < base or len(served_records) >= len(sent_records):
                continue
            if not batch.crc_ok:
                differences.append("what is served has a wrong checksum")
            served_records += [
                _content(served_record)
                for served_record in batch.records()
                if served_record.offset >= base
            ]
    except Malformed as problem:
        return [*differences, f"what is served can't be read: {_plain(problem.reason)}"]
    if sent_records and not served_records:
        differences.append("nothing is served at its offset")
    elif served_records[: len(sent_records)] != sent_records:
        differences.append("other records are served")
    return differences


def _flaws(batches: Sequence[Batch]) -> Iterator[str]:
    """Yield what is wrong with accepted batches. Raises Malformed."""
    if any(not batch.crc_ok for batch in batches):
        yield "its checksum was wrong"
    if any(batch.count not in (None, len(batch.records())) for batch in batches):
        yield "it announced another number of records"
    if any(batch.count not in (None, _offsets(batch)) for batch in batches):
        yield "it announced another number of offsets"


def _is_retry(sent: bytes, base: int, fetched: bytes) -> bool:
    """Return whether the served batch is an earlier one that the producer had sent with the same sequences.

    A retry is answered with the offset of the first batch, and its records are not read (KIP-98).
    """
    try:
        at_offset = [batch for batch in records.read(fetched) if batch.base_offset == base]
        batches = list(records.read(sent))
    except Malformed:
        return False
    return any(
        served.producer_id >= 0
        and _sequences(served) == _sequences(accepted)
        and served.crc != accepted.crc
        for served in at_offset
        for accepted in batches
    )


def _sequences(batch: Batch) -> tuple[int, ...]:
    return batch.producer_id, batch.producer_epoch, batch.base_sequence, _offsets(batch)


def _offsets(batch: Batch) -> int:
    """Return how many offsets a batch takes by its last_offset_delta.

    A producer sends a record for each (LogValidator).
    """
    return int64(batch.last_offset - (batch.base_offset or 0) + 1)


def _content(record: Any) -> tuple[object, ...]:
    return record.key, record.value, record.headers


def _plain(reason: str) -> str:
    return "".join("#" if letter.isdigit() else letter for letter in reason)
