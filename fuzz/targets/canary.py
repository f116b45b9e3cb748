"""A canary: what another client wrote before the cases must still be there, and the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from barnabas.fuzz.sessions.session import Ask
from barnabas.fuzz.targets.probing import Prober, Unanswered
from barnabas.specs import records
from barnabas.specs.keys import FETCH, METADATA, PRODUCE
from barnabas.specs.records.record import Record

TOPIC: Final = "barnabas-canary"

_PRODUCE: Final = 3
_FETCH: Final = 4
"""The versions that are asked: the first of magic 2, which brokers from 0.11 on take."""

_FETCHED: Final = Ask(
    FETCH,
    _FETCH,
    {
        "max_wait_ms": 0,
        "min_bytes": 0,
        "topics": [
            {
                "topic": TOPIC,
                "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 16}],
            }
        ],
    },
)


class Canary:
    """Writes a batch once, and reads it whenever it is asked."""

    def __init__(self, prober: Prober) -> None:
        self._prober = prober
        self._known: bytes | None = None

    def write(self, offered: Mapping[int, tuple[int, int]]) -> None:
        """Write the batch; where the broker does not take it, the canary says nothing later."""
        self._known = None
        for key, version in ((PRODUCE, _PRODUCE), (FETCH, _FETCH)):
            low, high = offered.get(key, (0, -1))
            if not low <= version <= high:
                return
        batch = records.build([Record(i, 1_500_000_000_000, b"k", b"v%d" % i) for i in range(3)])
        part = {"index": 0, "records": batch}
        body = {
            "acks": -1,
            "timeout_ms": 5000,
            "topic_data": [{"name": TOPIC, "partition_data": [part]}],
        }
        try:
            self._prober.ask(METADATA, 1, {"topics": [{"name": TOPIC}]})
            self._prober.ask(PRODUCE, _PRODUCE, body)
            self._known = _records(self._prober.ask(*_FETCHED)) or None
        except Unanswered:
            self._prober.close()

    @property
    def question(self) -> tuple[Ask, ...]:
        """What is asked to learn whether it is still there; nothing if it was not written."""
        return () if self._known is None else (_FETCHED,)

    def problem(self, answers: Sequence[Mapping[str, Any]]) -> str:
        """What is wrong with what was written, in words; "" if nothing is. answers: to the `question`."""
        if self._known is None or not answers:
            return ""
        found = _records(answers[0])
        if found.startswith(self._known):
            return ""
        return "its records are gone" if not found else "its records have changed"


def _records(answer: Mapping[str, Any]) -> bytes:
    for topic in answer["responses"]:
        for part in topic["partitions"]:
            return bytes(part["records"] or b"")
    return b""
