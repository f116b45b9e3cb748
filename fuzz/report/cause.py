"""Root causes of findings: an error at one location in a program, whatever API, field, mutator or oracle.

If no location is known, the oracle and the API must be the same.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.cases.observation import SPINS, Observation
from barnabas.fuzz.database.finding import HUNG, Finding, finding_name
from barnabas.fuzz.observations.case_labels import NO_STACK, recipe_labels
from barnabas.fuzz.observations.hangs import hang_frames
from barnabas.fuzz.observations.helper_frames import is_helper, is_language, own_frame
from barnabas.fuzz.oracles.oracle import alone
from barnabas.fuzz.report.severity import Severity, severity
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
    "unanswered": 1,
}
"""Oracles whose behaviours have, from this index on, an error and the innermost frames."""

ERROR_AT: Final = {
    "damaged": slice(1, 2),
    "differing": slice(None),
    "responses": slice(None),
    "server_error": slice(2),
    "silent": slice(1, 2),
}
"""The part of a behaviour that is the error, for oracles without frames; else it is the first."""

PLACELESS: Final = frozenset((HUNG, "client-memory", "hung", "amplified"))
"""Oracles whose behaviours only name fields and mutators."""

READING: Final = "an error of reading"
"""The error of a cause that lets all errors out that its helpers raise for malformed bytes."""

CRASH: Final = "a crash"
"""The error of a cause in C: one function that trusts a response dies of several signals and assertions."""

_LETS_OUT: Final = frozenset(
    ("client-raised", "closing", "logged", "server_error", "traceback", "unanswered")
)
"""Oracles of errors that code should have caught."""

_MISTAKE: Final = re.compile(
    r"(?:.*\.)?(?:NullPointer|ClassCast|IllegalState|UnsupportedOperation|NoSuchElement|Concurrent\w+)Exception"
    r"|(?:.*\.)?(?:Attribute|Type|Key|Name|Assertion|Recursion|OutOfMemory|StackOverflow|Memory)Error"
)
"""Errors of a mistake in the code itself, which no bytes justify."""

_ERROR: Final = re.compile(
    r"(?:[a-z_$][\w$]*\.)*[\w$]*(?:Exception|Error|Throwable|Interrupt|Exit)"
)
_ALLOCATORS: Final = frozenset(("rd_calloc", "rd_malloc", "rd_realloc"))
"""Functions of librdkafka that assert that there was memory."""
_FUNCTION_IN_C: Final = re.compile(r"\w+")
_REASON: Final = re.compile(r"(?<=can't be read): .*")
"""Why this project's decoder can't read what a broker serves, which differs for one mistake of the broker."""
_NO_MORE: Final = frozenset((NO_STACK, *NAMES.values()))
"""The labels that follow these replace a missing stack."""

COMPUTING: Final = "computes"
"""What a client does that hangs in a loop; others wait."""

LOOP: Final = 2
"""Innermost frames among which a loop is looked for: what it calls differs each time."""


class Cause(NamedTuple):
    """A root cause.

    Attributes:
        error: A class, a panic, a signal; the oracle's words if there is none.
        frame: The innermost frame of the program's own code, "" if none is known.
        oracle: The oracle; "" if both others are known.
        message: The API, and whether its records are meant, where no frame tells causes apart.
    """

    error: str
    frame: str
    oracle: str
    message: str = ""


class Group(NamedTuple):
    """Findings of one cause, the gravest first, then by their first cases."""

    cause: Cause
    findings: tuple[Finding, ...]

    @property
    def cases(self) -> int:
        """Return the number of cases that showed the findings.

        If several oracles judged the same cases, they count once.
        """
        by_oracle: Counter[str] = Counter()
        for finding in self.findings:
            by_oracle[finding.oracle] += finding.cases
        return max(by_oracle.values())

    @property
    def severity(self) -> str:
        """Return the severity of the gravest finding."""
        return severity(self.findings[0].oracle).name

    @property
    def errors(self) -> list[str]:
        """Return the errors of the findings, the most frequent first."""
        counts: Counter[str] = Counter()
        for finding in self.findings:
            error, frames = error_and_frames(finding.oracle, finding.behaviour)
            if frames:
                counts[error] += finding.cases
        return [error for error, _ in counts.most_common()]


def cause_name(root_cause: Cause) -> str:
    """Return a cause's name, equal in every database."""
    return f"cause-{finding_name((root_cause.error, root_cause[1:]))}"


def cause(oracle: str, behaviour: Sequence[str], message: str = "") -> Cause:
    """Return the cause of a behaviour.

    message: what was changed (`message_of`), for behaviours that name no location.

    >>> cause("client-died", ("panic: len out of range", "io.ReadFull", "github.com/a/b.(*C).read"))
    Cause(error='panic: len out of range', frame='github.com/a/b.(*C).read', oracle='', message='')
    >>> cause("closing", ("Fetch", "closed", "java.lang.Error", "kafka.A.f", "kafka.B.g")).frame
    'kafka.A.f'
    >>> cause("client-memory", ("nulls records.count",), "Fetch records")
    Cause(error='', frame='', oracle='client-memory', message='Fetch records')
    >>> cause("responses", ("Metadata", "topics"))
    Cause(error='Metadata, topics', frame='', oracle='responses', message='')
    >>> cause("silent", ("Produce", "other records", "nulls key")).error
    'other records'
    """
    if oracle in PLACELESS:
        return Cause("", "", oracle, message)
    if oracle == "closing" and behaviour[1:2] == ("answered",):
        return Cause("answered", behaviour[-1], oracle)
    error, frames = error_and_frames(oracle, behaviour)
    frame = own_frame(frames)
    if _lets_out(oracle, error, frames):
        return Cause(READING, frame, "", "" if frame else message)
    if frame:
        crashes = oracle == "client-died" and _FUNCTION_IN_C.fullmatch(frame) is not None
        return Cause(CRASH if crashes else error, frame, "")
    if frames:
        helper = next((inner for inner in frames if not is_language(inner)), "")
        return Cause(error, helper, "", message)
    if error:
        labelled = not _NO_MORE.isdisjoint(behaviour)  # the labels stand for a missing stack
        return Cause(error, "", oracle, message if labelled else "")
    errors = (_REASON.sub("", error) for error in behaviour[ERROR_AT.get(oracle, slice(1))])
    return Cause(", ".join(filter(None, errors)), "", oracle)


def _lets_out(oracle: str, error: str, frames: Sequence[str]) -> bool:
    """Return whether an error should have been caught by the innermost function of the program's own.

    It is an error of a helper, which malformed bytes justify, or any that leaves a client.
    """
    if oracle == "client-raised" and own_frame(frames):
        return True
    within = any(is_helper(inner) and not is_language(inner) for inner in frames[:1])
    return within and oracle in _LETS_OUT and not _MISTAKE.fullmatch(error)


def error_and_frames(oracle: str, behaviour: Sequence[str]) -> tuple[str, list[str]]:
    """Return the error and the frames of a behaviour, as far as it has them."""
    details = behaviour[STACK_AT.get(oracle, len(behaviour)) :]
    frames = [*itertools.takewhile(lambda detail: detail not in _NO_MORE, details)]
    if not frames:
        return "", []
    # an exit has a Java exception first, or another reason last
    last = oracle == "died" and not _ERROR.fullmatch(frames[0])
    return frames.pop(-1 if last else 0), frames


def cause_of(finding: Finding) -> Cause:
    """Return the cause of a finding by itself."""
    return observed_cause(finding.oracle, finding.behaviour, finding.observation, finding.recipe)


def message_of(recipe: Recipe) -> str:
    """Return the API of a recipe, and whether it changes records.

    >>> from barnabas.fuzz.cases.case import Change, Seed
    >>> fetch = Recipe(Seed(1, 4, "response", b"", ""), ())
    >>> recipes = (fetch._replace(changes=(Change("", path, 1),)) for path in ("a", "b.records[0].crc"))
    >>> [message_of(recipe) for recipe in recipes]
    ['Fetch', 'Fetch records']
    """
    path = recipe.changes[-1].path if recipe.changes else ""
    api, *_ = recipe_labels(recipe)
    return f"{api} records" if "records[" in path else api


def observed_cause(
    oracle: str, behaviour: Sequence[str], observation: Observation, recipe: Recipe
) -> Cause:
    """Return the cause of a behaviour; that of a hang has the frame in which the client was seen."""
    root_cause = cause(oracle, behaviour, message_of(recipe))
    if oracle != HUNG:
        return root_cause
    return _hanging(root_cause, behaviour, own_frame(_hang_frames(observation)))


def _hang_frames(observation: Observation) -> tuple[str, ...]:
    facts: dict[str, Any] = dict(observation.facts)
    return hang_frames(facts.get("stack", ""), computes=bool(facts.get(SPINS)))


def _hanging(root_cause: Cause, behaviour: Sequence[str], frame: str) -> Cause:
    """Return the cause of a hang: by its loop, if there is one, else by its message.

    A client that waits does so in the loop of its connections, whatever it waits for.
    """
    doing = "".join(behaviour[1:2])
    message = "" if frame and doing == COMPUTING else root_cause.message
    return root_cause._replace(error=doing, frame=frame, message=message)


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
    """Return findings by cause: the gravest first, then by their first cases.

    Findings of one symptom, of which some have no stack, are of the most frequent cause of that symptom.
    """
    in_order = sorted(findings, key=_gravity)
    loops = _loops(in_order)
    by_cause: dict[Cause, list[Finding]] = {}
    for finding in in_order:
        by_cause.setdefault(_located(finding, loops), []).append(finding)
    _join_symptoms(by_cause)
    return [
        Group(root_cause, tuple(sorted(members, key=_gravity)))
        for root_cause, members in sorted(by_cause.items(), key=_by_severity)
    ]


def _gravity(finding: Finding) -> tuple[Severity, bool]:
    """Return a sort key: the gravest first, and first those that a case shows alone."""
    return severity(finding.oracle), not alone(finding.oracle, finding.observation)


def _by_severity(item: tuple[Cause, list[Finding]]) -> tuple[int, int]:
    gravest = min(severity(finding.oracle).rank for finding in item[1])
    return gravest, min(finding.first_case for finding in item[1])


def _located(finding: Finding, loops: Mapping[str, str]) -> Cause:
    """Return the cause of a finding; a hang's has the frame of its loop."""
    root_cause = cause_of(finding)
    loop = loops.get(finding.name, "")
    return _hanging(root_cause, finding.behaviour, loop) if loop else root_cause


def _loops(findings: Iterable[Finding]) -> dict[str, str]:
    """Return the frames in which clients hang, by findings' names.

    It is the one among the innermost frames that most stacks have, then that of most of the other stacks.
    """
    stacks: dict[str, list[str]] = {}
    for finding in findings:
        if finding.oracle == HUNG and COMPUTING in finding.behaviour:
            frames = _hang_frames(finding.observation)
            stacks[finding.name] = [frame for frame in frames if not is_helper(frame)][:LOOP]
    loops: dict[str, str] = {}
    while stacks := {name: frames for name, frames in stacks.items() if frames}:
        counts = Counter(frame for frames in stacks.values() for frame in dict.fromkeys(frames))
        ((loop, _),) = counts.most_common(1)
        loops |= {name: loop for name, frames in stacks.items() if loop in frames}
        stacks = {name: frames for name, frames in stacks.items() if loop not in frames}
    return loops


def _join_symptoms(by_cause: dict[Cause, list[Finding]]) -> None:
    """Move findings without a frame to the most frequent cause with a frame and the same symptom."""
    symptoms = (_symptom_of_hang, _symptom_of_response, _symptom_of_allocation, _symptom_of_crash)
    for symptom in symptoms:
        framed: dict[tuple[str, ...], Counter[Cause]] = {}
        for root_cause, members in by_cause.items():
            for finding in () if _is_unnamed(root_cause) else members:
                framed.setdefault(symptom(finding), Counter())[root_cause] += finding.cases
        framed.pop((), None)
        for root_cause in filter(_is_unnamed, list(by_cause)):
            without = by_cause.pop(root_cause)
            for finding in without:
                counts = framed.get(symptom(finding))
                joined = counts.most_common(1)[0][0] if counts else root_cause
                by_cause.setdefault(joined, []).append(finding)


def _symptom_of_hang(finding: Finding) -> tuple[str, ...]:
    """Return the field on which a client computes, or the API for which it waits; () for other findings."""
    if finding.oracle != HUNG:
        return ()
    if COMPUTING in finding.behaviour:
        return recipe_labels(finding.recipe)[2:]
    return (message_of(finding.recipe),)


def _symptom_of_response(finding: Finding) -> tuple[str, ...]:
    """Return the API and the path of UNKNOWN_SERVER_ERROR, or the API and "closed"; () for other findings."""
    return finding.behaviour[:2] if finding.oracle in ("server_error", "closing") else ()


def _is_unnamed(root_cause: Cause) -> bool:
    """Return whether no function of the program's own is known."""
    return not root_cause.frame or is_helper(root_cause.frame)


def _symptom_of_allocation(finding: Finding) -> tuple[str, ...]:
    """Return the API whose response makes a client allocate too much, or fail to; () for other findings."""
    allocates = finding.oracle == "client-memory" or not _ALLOCATORS.isdisjoint(finding.behaviour)
    return recipe_labels(finding.recipe)[:1] if allocates else ()


def _symptom_of_crash(finding: Finding) -> tuple[str, ...]:
    """Return what was changed when a client crashed; () for other findings.

    A corrupt heap shows anywhere, and a stack may break off.
    """
    return (message_of(finding.recipe),) if finding.oracle == "client-died" else ()
