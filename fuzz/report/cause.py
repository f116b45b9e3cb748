"""What findings have in common: an error at one place in a program, whatever API, field and mutator showed
it, and whoever judged. Where no place is known, the oracle has to be the same."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from barnabas.fuzz.database.finding import Finding
from barnabas.fuzz.observations.about import NO_STACK
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
"""Oracles of whose behaviours the rest, from there on, is an error and the innermost frames."""

ERROR_AT: Final = {
    "damaged": slice(1, 2),
    "differing": slice(None),
    "responses": slice(None),
    "silent": slice(1, 2),
}
"""Where the error stands in behaviours of oracles that know no frames; else it is the first."""

GRAVITY: Final = {one.name: at for at, one in enumerate(ORACLES)}

PLACELESS: Final = frozenset(("client-hung", "client-memory", "hung", "amplified"))
"""Oracles whose behaviours name fields and mutators only."""

_ERROR: Final = re.compile(
    r"(?:[a-z_$][\w$]*\.)*[\w$]*(?:Exception|Error|Throwable|Interrupt|Exit)"
)
_NOT_OWN: Final = re.compile(
    r"(?:io|bytes|bufio|strings|runtime|reflect|sync|net|errors|slices|sort|fmt|math)\.(?=[A-Z(])"
    r"|(?:encoding|compress|hash|crypto|container|internal)/|(?:java|javax|jdk|sun|scala)\."
)
"""Frames of the libraries that languages come with."""
_NO_MORE: Final = frozenset((NO_STACK, *NAMES.values()))
"""What stands behind these tells apart what left no stack."""


class Cause(NamedTuple):
    """An error (a class, a panic, a signal; what the oracle says where there is none), the innermost
    frame of the program's own, "" if none is known, and the oracle, "" where both are known."""

    error: str
    frame: str
    oracle: str


class Group(NamedTuple):
    """Findings of one cause, the gravest first, of those the first found."""

    cause: Cause
    findings: tuple[Finding, ...]

    @property
    def cases(self) -> int:
        """How many cases showed them."""
        return sum(one.cases for one in self.findings)


def cause(oracle: str, behaviour: Sequence[str]) -> Cause:
    """The cause of a behaviour.

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
    told = behaviour[STACK_AT.get(oracle, len(behaviour)) :]
    frames = [*itertools.takewhile(lambda one: one not in _NO_MORE, told)]
    if not frames:
        said = behaviour[ERROR_AT.get(oracle, slice(1))]
        return Cause(", ".join(filter(None, said)), "", oracle)
    # a death is told by an exception of Java's, which comes first, or by what was said last
    last = oracle == "died" and not _ERROR.fullmatch(frames[0])
    error = frames.pop(-1 if last else 0)
    if not frames:
        return Cause(error, "", oracle)
    own = (one for one in frames if not _NOT_OWN.match(one))
    return Cause(error, next(own, frames[0]), "")


def standing(group: Group) -> Finding | None:
    """The finding of a group that is made smaller in the place of all: one that was, or the first that may
    be; None: none may."""
    done = (one for one in group.findings if one.smaller is not None)
    return next(done, next((one for one in group.findings if one.to_shrink), None))


def unshrunk(found: Iterable[Finding]) -> int:
    """How many are still to be made smaller."""
    return sum((one := standing(group)) is not None and one.to_shrink for group in groups(found))


def groups(found: Iterable[Finding]) -> list[Group]:
    """Findings by cause: the gravest first, of those the first found."""
    by_cause: dict[Cause, list[Finding]] = {}
    for one in sorted(found, key=lambda one: GRAVITY.get(one.oracle, len(GRAVITY))):
        by_cause.setdefault(cause(one.oracle, one.behaviour), []).append(one)
    return [Group(one, tuple(members)) for one, members in by_cause.items()]
