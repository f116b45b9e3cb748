"""Verdicts of checks: pass, fail, skipped, error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Literal

Outcome = Literal["pass", "fail", "skipped", "error"]


class Level(IntEnum):
    """The level of a requirement: whether it must, should or may be met."""

    MUST = 0
    """A KIP, a message definition or the protocol guide demands it, or clients depend on it."""
    SHOULD = 1
    """Every Apache release does it."""
    INFO = 2
    """Apache Kafka does it, and nothing demands it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A request and its response, as bytes without size, with the marked field."""

    api: str
    """Empty: the bytes are not of one API."""
    version: int
    request: bytes
    response: bytes | None
    path: str = ""


class Failed(Exception):
    """The broker violates the requirement."""

    def __init__(
        self, what: str, expected: str, received: str, evidence: Evidence | None = None
    ) -> None:
        super().__init__(f"{what}: expected {expected}, received {received}")
        self.what = what
        self.expected = expected
        self.received = received
        self.evidence = evidence

    def shorten(self, limit: int) -> None:
        """Keep at most so many bytes of the response."""
        if self.evidence is not None and self.evidence.response is not None:
            self.evidence = replace(self.evidence, response=self.evidence.response[:limit])


class Skipped(Exception):
    """The broker lacks what the check needs; the text names it."""


class Unprepared(Exception):
    """The broker does not create a topic that the check needs; the text has the reason."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one check on one broker."""

    check: str
    outcome: Outcome
    reason: str = ""
    failure: Failed | None = None
    seconds: float = 0.0
    packets: tuple[int, ...] = ()
    """The packet numbers of the failure's request and response in the capture."""
