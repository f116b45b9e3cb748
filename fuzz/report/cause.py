"""Root causes of findings: an error at one location in a program, whatever API, field, mutator or oracle.

If no location is known, the oracle must be the same.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from barnabas.fuzz.database.finding import Finding
from barnabas.fuzz.observations.case_labels import NO_STACK
from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.specs.registry import NAMES

STACK_AT: Final = {
    "died": 1,
    "client-died": 0,
    "client-raised": 0,
    "fatal": 0,
    "costly": 0,
    "logged": 0,
    "traceback": 0,
    "undocumented": 0,
    "server_error": 2,
    "closing": 2,
}
"""Oracles whose behaviours have, from this index on, an error and the innermost frames."""

ERROR_AT: Final = {
    "damaged": slice(1, 2),
    "differing": slice(None),
    "responses": slice(None),
    "silent": slice(1, 2),
}
"""The part of a behaviour that is the error, for oracles without frames; else it is the first."""

GRAVITY: Final = {oracle.name: index for index, oracle in enumerate(ORACLES)}

PLACELESS: Final = frozenset(("client-hung", "client-memory", "hung", "amplified"))
"""Oracles whose behaviours only name fields and mutators."""

_ERROR: Final = re.compile(
    r"(?:[a-z_$][\w$]*\.)*[\w$]*(?:Exception|Error|Throwable|Interrupt|Exit)"
)
_NOT_OWN: Final = re.compile(
    r"(?:io|bytes|bufio|strings|runtime|reflect|sync|net|errors|slices|sort|fmt|math)\.(?=[A-Z(])"
    r"|(?:encoding|compress|hash|crypto|container|internal)/|(?:java|javax|jdk|sun|scala)\."
)
"""Frames of the libraries that come with languages."""
_NO_MORE: Final = frozenset((NO_STACK, *NAMES.values()))
"""The labels that follow these replace a missing stack."""


class Cause(NamedTuple):
    """A root cause.

    Attributes:
        error: A class, a panic, a signal; the oracle's words if there is none.
        frame: The innermost frame of the program's own code, "" if none is known.
        oracle: The oracle; "" if both others are known.
    """

    error: str
    frame: str
    oracle: str


class Group(NamedTuple):
    """Findings of one cause, the gravest first, then by their first cases."""

    cause: Cause
    findings: tuple[Finding, ...]

    @property
    def cases(self) -> int:
        """Return the number of cases that showed the findings."""
        return sum(finding.cases for finding in self.findings)


def cause(oracle: str, behaviour: Sequence[str]) -> Cause:
    """Return the cause of a behaviour.

    >>> cause("client-died", ("panic: len out of range", "io.ReadFull", "github.com/a/b.(*C).read"))
    Cause(error='panic: len out of range', frame='github.com/a/b.(*C).read', oracle='')
    >>> cause("closing", ("Fetch", "closed", "java.lang.Error", "kafka.A.f", "kafka.B.g"))
    Cause(error='java.lang.Error', frame='kafka.A.f', oracle='')
    >>> cause("client-hung", ("nulls records.count",))
    Cause(error='', frame='', oracle='client-hung')
    >>> cause("responses", ("Metadata", "topics"))
    Cause(error='Metadata, topics', frame='', oracle='responses')
    >>> cause("silent", ("Produce", "other records", "nulls key")).error
    'other records'
    """
    if oracle in PLACELESS:
        return Cause("", "", oracle)
    if oracle == "closing" and behaviour[1:2] == ("answered",):
        return Cause("answered", behaviour[-1], oracle)
    details = behaviour[STACK_AT.get(oracle, len(behaviour)) :]
    frames = [*itertools.takewhile(lambda detail: detail not in _NO_MORE, details)]
    if not frames:
        errors = behaviour[ERROR_AT.get(oracle, slice(1))]
        return Cause(", ".join(filter(None, errors)), "", oracle)
    # an exit has a Java exception first, or another reason last
    last = oracle == "died" and not _ERROR.fullmatch(frames[0])
    error = frames.pop(-1 if last else 0)
    if not frames:
        return Cause(error, "", oracle)
    own_frames = (detail for detail in frames if not _NOT_OWN.match(detail))
    return Cause(error, next(own_frames, frames[0]), "")


def representative(group: Group) -> Finding | None:
    """Return the finding of a group that is shrunk on behalf of all: one that was, or the first that may be.

    None if no finding may be shrunk.
    """
    done = (finding for finding in group.findings if finding.smaller is not None)
    return next(done, next((finding for finding in group.findings if finding.to_shrink), None))


def count_unshrunk(findings: Iterable[Finding]) -> int:
    """Return how many groups still have to be shrunk."""
    return sum(
        (finding := representative(group)) is not None and finding.to_shrink
        for group in groups(findings)
    )


def groups(findings: Iterable[Finding]) -> list[Group]:
    """Return findings by cause: the gravest first, then by their first cases."""
    by_cause: dict[Cause, list[Finding]] = {}
    for finding in sorted(findings, key=lambda finding: GRAVITY.get(finding.oracle, len(GRAVITY))):
        by_cause.setdefault(cause(finding.oracle, finding.behaviour), []).append(finding)
    return [Group(root_cause, tuple(members)) for root_cause, members in by_cause.items()]
