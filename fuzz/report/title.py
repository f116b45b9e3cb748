"""Titles of findings: who does what, at which location in the program, and upon which message."""

from __future__ import annotations

import re
from typing import Final

from barnabas.captures.kafka.wording import shorten
from barnabas.fuzz.bench_broker.contexts.registry import context_at
from barnabas.fuzz.cases.case import Change, Recipe
from barnabas.fuzz.database.finding import Finding
from barnabas.fuzz.frame_map.fields import field_of
from barnabas.fuzz.mutators.delivery import UNCHANGED
from barnabas.fuzz.mutators.registry import MUTATORS_BY_NAME
from barnabas.fuzz.oracles.costly import FOR_SECONDS
from barnabas.fuzz.report.cause import (
    CRASH,
    READING,
    Cause,
    Group,
    cause_of,
    error_and_frames,
)
from barnabas.specs.registry import NAMES

WHAT: Final = 160
"""Characters of an oracle's message in a title."""

POWERS: Final = {
    2**31 - 1: "2^31-1",
    -(2**31): "-2^31",
    2**30: "2^30",
    2**24: "2^24",
    2**63 - 1: "2^63-1",
}
"""Numbers that are shown as powers."""

_LIE: Final = re.compile(r"(-?\d+) \([^)]*\) instead of -?\d+")

_TYPE_PARAMETERS: Final = re.compile(r"\[[^\]]*\]")

LISTED: Final = 2
"""Errors in the title of a group."""

WHO: Final = {"client": "the client", "traceback": "the process", "undocumented": "the decoder"}
"""The subject of a title, by the beginning of an oracle's name; else a broker."""

ABOUT_GROUP: Final = {
    "hung": "the broker hangs",
    "client-hung": "the client hangs",
    "amplified": "the broker takes more memory than the request justifies",
    "client-memory": "the client takes more memory than the response justifies",
}
"""Titles of groups of findings of these oracles."""


def title(finding: Finding) -> str:
    """Return the title of a finding."""
    root_cause = _as_raised(cause_of(finding), finding)
    if root_cause.oracle in ABOUT_GROUP:
        return f"{_of_symptom(root_cause)} on {upon(finding.best)}"
    if not _verb(root_cause):
        return f"{shorten(finding.what, WHAT)} ({upon(finding.observation.case.recipe)})"
    return f"{_happens(root_cause, finding)} on {upon(finding.best)}"


def heading(group: Group) -> str:
    """Return the title of a group of findings."""
    root_cause, first = group.cause, group.findings[0]
    if root_cause.error == "answered":
        return f"answered, though {root_cause.frame}"
    message = f" ({root_cause.message})" if root_cause.message else ""
    if root_cause.oracle in ABOUT_GROUP:
        return f"{_of_symptom(root_cause)}{message}"
    if root_cause.error == READING:
        errors = [_class_name(error) for error in group.errors]
        more = f" and {len(errors) - LISTED} more" if len(errors) > LISTED else ""
        subject = _subject(root_cause, first)
        return f"{subject} lets out {', '.join(errors[:LISTED])}{more}{message}"
    return f"{_happens(_as_raised(root_cause, _typical(group)), first)}{message}"


def _typical(group: Group) -> Finding:
    """Return the first finding with the most frequent error of its group."""
    return next(
        (
            finding
            for finding in group.findings
            if error_and_frames(finding.oracle, finding.behaviour)[0] in group.errors[:1]
        ),
        group.findings[0],
    )


def _of_symptom(root_cause: Cause) -> str:
    """Return who hangs or takes memory, and in which function, if it is known."""
    doing = f" and {root_cause.error}" if root_cause.error else ""
    location = f" in {_short(root_cause.frame)}" if root_cause.frame else ""
    return f"{ABOUT_GROUP[root_cause.oracle]}{doing}{location}"


def _as_raised(root_cause: Cause, finding: Finding) -> Cause:
    """Return the cause with the finding's own error."""
    if root_cause.error not in (READING, CRASH):
        return root_cause
    return root_cause._replace(error=error_and_frames(finding.oracle, finding.behaviour)[0])


def _happens(root_cause: Cause, finding: Finding) -> str:
    """Return subject and verb."""
    verb = _verb(root_cause)
    return f"{_subject(root_cause, finding)} {verb}" if verb else shorten(finding.what, WHAT)


def _subject(root_cause: Cause, finding: Finding) -> str:
    return _short(root_cause.frame) or WHO.get(finding.oracle.partition("-")[0], "the broker")


def upon(recipe: Recipe) -> str:
    """Return what is sent.

    >>> from barnabas.fuzz.cases.case import Seed
    >>> made = Change("counts", "topics[0].partitions.count", 1, "2147483647 (the most) instead of 1")
    >>> upon(Recipe(Seed(1, 11, "response", b"", ""), (made,)))
    'a partitions count of 2^31-1 in a Fetch v11 response'
    """
    seed = recipe.seed
    message = f"{NAMES.get(seed.key, seed.key)} v{seed.version} {seed.direction}"
    changes = [change for change in recipe.changes if change.mutator != UNCHANGED]
    distorted = context_at(seed.origin).distorted
    later = f", with wrong values in up to {distorted} later responses" if distorted else ""
    if not changes:
        return f"a well-formed {message}{later}"
    more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    return f"{_done(changes[-1])}{more} in {_a(message)}{later}"


def _done(change: Change) -> str:
    field = ".".join(field_of(change.path).split(".")[-2:])
    lie = _LIE.match(change.detail)
    if lie and change.mutator in ("counts", "lengths"):
        number = int(lie[1])
        return f"{_a(field.replace('.', ' '))} of {POWERS.get(number, number)}"
    location = f" at {field}" if field else ""
    mutator = MUTATORS_BY_NAME.get(change.mutator)
    return f"{mutator.description if mutator else change.mutator}{location}"


def _verb(root_cause: Cause) -> str:
    """Return what a program did, by the error; "" if there is no verb for it."""
    error = root_cause.error
    kind, _, reason = error.partition(": ")
    if error == FOR_SECONDS:
        return error
    if error == "fatal error: out of memory":
        return "runs out of memory"
    if kind in ("panic", "fatal error"):
        return f"panics ({reason.removeprefix('runtime error: ')})"
    if kind in ("assertion", "assert"):
        return f"fails an assertion ({reason})"
    if kind == "Fatal Python error":
        return f"dies of a {reason.lower()}"
    if error.startswith(("signal ", "exit code ")):
        return f"dies of {error}"
    if " " not in error and (root_cause.frame or error.startswith("java.")):
        python = ":" in root_cause.frame
        return f"raises {error}" if python else f"throws {_class_name(error)}"
    return (
        f"dies ({error})"
        if root_cause.frame or root_cause.oracle in ("died", "client-died")
        else ""
    )


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiouAEIO' else 'a'} {noun}"


def _class_name(error: str) -> str:
    """Return the name of a Java class without its package; other errors as they are."""
    return error.rpartition(".")[2] if error.count(".") > 1 else error


def _short(frame: str) -> str:
    """Return a frame without packages and type parameters.

    >>> _short("github.com/a/kafka-go/protocol.(*decoder).Read"), _short("org.apache.kafka.a.Log.read")
    ('protocol.(*decoder).Read', 'Log.read')
    >>> _short("github.com/twmb/franz-go/pkg/kgo.ensureLen[...].func1")
    'kgo.ensureLen.func1'
    """
    last = _TYPE_PARAMETERS.sub("", frame).rpartition("/")[2]
    if "(" in last or ":" in last or "/" in frame:
        return last
    return ".".join(last.split(".")[-2:])
