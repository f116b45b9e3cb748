"""What every target is: it takes cases and gives an observation of each, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Protocol, Self

from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.observation import Observation


class Runs(Protocol):
    """Runs cases."""

    @property
    def at_once(self) -> int:
        """Cases that it is best given at once: those under way are lost if somebody interrupts it."""
        ...

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases in order. What died is started again before the next one."""
        ...


class Target(Runs, Protocol):
    """A context manager: starts what it needs, and leaves nothing behind, however it ends. It may have a
    `doing`: what it does beside its cases, in words for who waits; a `together`: how it runs cases that do
    something only behind each other, if not by `run`; a `run_until`: it ends, once it is told to,
    behind the cases that are under way; and a `patient_until`, within which it waits for late answers no
    longer than until it is told.

    Raises barnabas.fuzz.errors.CannotRun when started where something is missing, with what to do about it.
    """

    name: str
    """In one line, with the version: "kafka 3.9.1", "kafka-python 2.3.1", "broker 127.0.0.1:9092"."""
    role: Role

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
