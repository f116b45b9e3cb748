"""Kafka's own message classes of an exact kafka-clients as a decoder, to compare with.

The result is a fact: `wrote` (a digest of the encoded message), `refused` or `unwritten`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Self

from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.targets.outcomes import digest, key_and_version
from barnabas.peers.apache.client import Decoded, JavaClient, JavaError
from barnabas.peers.apache.errors import UnavailableError, UnknownVersionError

BATCH: Final = 100
"""Cases of one request to the process."""


class KafkaClasses:
    """Runs cases in a Java process. Raises barnabas.fuzz.errors.Misuse for an unknown version."""

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

    def supported_versions(self) -> dict[int, range]:
        """Return the versions that have classes, by API key."""
        return {key: range(low, high + 1) for key, (low, high) in self._versions.items()}

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Read each case. Raises CannotRun if the process ends."""
        for start in range(0, len(cases), BATCH):
            some = cases[start : start + BATCH]
            frames = [(*key_and_version(case), b"".join(case.chunks)[4:]) for case in some]
            try:
                decoded = self._java.decode(frames)
            except JavaError as problem:
                raise CannotRun(f"{self.name}: {problem}") from None
            for case, result in zip(some, decoded, strict=True):
                yield Observation(case, sent=case.chunks, facts=_facts(result))


def _facts(decoded: Decoded) -> tuple[tuple[str, object], ...]:
    if decoded.refused:
        return (("refused", decoded.refused),)
    result = (
        ("unwritten", decoded.unwritten)
        if decoded.wrote is None
        else ("wrote", digest(decoded.wrote))
    )
    return (("left", decoded.remaining), result)
