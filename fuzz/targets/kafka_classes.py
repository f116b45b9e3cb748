"""Kafka's own classes as a decoder, of an exact kafka-clients: to compare with, not to find fault with.

What they make of a case is a fact: `wrote` (a digest of what they write of it), `refused` or `unwritten`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Self

from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.targets.outcomes import asked_of, digest
from barnabas.peers.apache.client import Decoded, JavaClient, JavaError
from barnabas.peers.apache.errors import UnavailableError, UnknownVersionError

BATCH: Final = 100
"""Cases that are asked for at once."""


class KafkaClasses:
    """Runs cases in a Java process. Raises barnabas.fuzz.errors.Misuse for what is no version."""

    role: Role = "decoder"
    at_once = 200

    def __init__(self, version: str) -> None:
        try:
            self._java = JavaClient(version, {})
        except UnknownVersionError as problem:
            raise Misuse(f"decoder:kafka-clients@{version}: {problem}") from None
        self.name = f"kafka-clients {version}"
        self._versions: Mapping[int, tuple[int, int]] = {}

    def __enter__(self) -> Self:
        try:
            self._java.__enter__()
        except UnavailableError as problem:
            raise CannotRun(str(problem)) from None
        try:
            self._versions = self._java.decodes()
        except JavaError as problem:
            self._java.__exit__()
            raise CannotRun(f"{self.name} has no message classes: {problem}") from None
        return self

    def __exit__(self, *problem: object) -> None:
        self._java.__exit__()

    def takes(self) -> dict[int, range]:
        """API key -> the versions that there are classes for."""
        return {key: range(low, high + 1) for key, (low, high) in self._versions.items()}

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Read each of them. Raises CannotRun if the process ends."""
        for start in range(0, len(cases), BATCH):
            some = cases[start : start + BATCH]
            frames = [(*asked_of(case), b"".join(case.chunks)[4:]) for case in some]
            try:
                found = self._java.decode(frames)
            except JavaError as problem:
                raise CannotRun(f"{self.name}: {problem}") from None
            for case, one in zip(some, found, strict=True):
                yield Observation(case, sent=case.chunks, facts=_facts(one))


def _facts(one: Decoded) -> tuple[tuple[str, object], ...]:
    if one.refused:
        return (("refused", one.refused),)
    made = ("unwritten", one.unwritten) if one.wrote is None else ("wrote", digest(one.wrote))
    return (("left", one.left), made)
