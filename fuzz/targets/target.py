"""The interface of all targets: they take cases and return an observation of each, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Protocol, Self

from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.observation import Observation


class CaseRunner(Protocol):
    """Runs cases."""

    @property
    def at_once(self) -> int:
        """Return the number of cases that it is best given at once; an interruption loses those in flight."""
        ...

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases in order, and restart the target after a crash."""
        ...


class Target(CaseRunner, Protocol):
    """A target of a campaign, and a context manager: it starts what it needs, and leaves nothing running.

    Optional attributes:

    - `doing`: the current activity other than new cases, as a message.
    - `together`: runs cases that show a problem only one after another, instead of `run`.
    - `one_by_one`: runs each case in its own process, instead of `run`.
    - `run_until`: ends, once a function returns True, after the cases in flight.
    - `patient_until`: a context within which late responses are waited for until a function returns True.

    Raises barnabas.fuzz.errors.CannotRun, with a remedy, if a requirement is missing at the start.
    """

    name: str
    """The name in one line, with the version: "kafka 3.9.1", "kafka-python 2.3.1", "broker
    127.0.0.1:9092"."""
    role: Role

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
