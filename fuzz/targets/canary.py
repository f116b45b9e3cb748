"""A canary: a batch that another client wrote before the cases, which must stay unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from barnabas.fuzz.sessions.session import Request
from barnabas.fuzz.targets.prober import Prober, Unanswered
from barnabas.specs import records
from barnabas.specs.keys import FETCH, METADATA, PRODUCE
from barnabas.specs.records.record import Record

TOPIC: Final = "barnabas-canary"

_PRODUCE: Final = 3
_FETCH: Final = 4
"""The versions of the requests: the first with magic 2, which brokers from 0.11 on support."""

_FETCHED: Final = Request(
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
    """Writes a batch once, and checks it on request."""

    def __init__(self, prober: Prober) -> None:
        self._prober = prober
        self._known: bytes | None = None

    def write(self, offered: Mapping[int, tuple[int, int]]) -> None:
        """Write the batch. If the broker does not accept it, later checks report nothing."""
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
    def question(self) -> tuple[Request, ...]:
        """Return the requests of a check; none if the batch was not written."""
        return () if self._known is None else (_FETCHED,)

    def problem(self, answers: Sequence[Mapping[str, Any]]) -> str:
        """Return what is wrong with the batch as a message; "" if nothing is. answers: to `question`."""
        if self._known is None or not answers:
            return ""
        served = _records(answers[0])
        if served.startswith(self._known):
            return ""
        return "its records are gone" if not served else "its records have changed"


def _records(answer: Mapping[str, Any]) -> bytes:
    for topic in answer["responses"]:
        for part in topic["partitions"]:
            return bytes(part["records"] or b"")
    return b""
