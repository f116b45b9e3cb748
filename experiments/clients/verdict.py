"""The verdict on a client's workload under a scenario: a pure function of its trials."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median
from typing import Any, Final, Literal, get_args

from pydantic import field_validator

from barnabas.experiments.clients.relevance import applicable_rules, point
from barnabas.experiments.clients.runs import UNANSWERED, UNUSABLE
from barnabas.experiments.clients.trial import Trial
from barnabas.experiments.clients.workloads import Workload
from barnabas.plural import plural
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.scenario.model import About, Scenario

Word = Literal[
    "fine",
    "not met",
    "slow",
    "fails",
    "breaks the protocol",
    "stuck",
    "died",
    "grows",
    "reported twice",
    "duplicates",
    "uncommitted",
    "skipped",
    "reordered",
    "aborted seen",
    "misplaced",
    "phantom",
    "failed yet written",
    "lost",
    "not run",
]
"""The verdicts as stored, the harmless first: a client that fails may still have lost records.

`not met`: a rule that is the point of the scenario did not fire.
"""

LABELS: Final[dict[Word, str]] = {"fine": "as expected", "not met": "rule never matched"}
"""The words of tables for stored verdicts, where they differ. Files may have either."""

SLOW: Final = 5.0
"""Seconds beyond the fault's own length and a run without faults, from which on a client is slow."""

NEAR: Final = 1.0
"""The difference in seconds up to which a delay counts as caused by the client's own timeout."""

IDLE: Final = 20.0
"""Seconds without a new record from which on a client whose time is up is stuck."""

GAVE_UP: Final = "GaveUpError: "
"""The prefix of a program's exception after a timeout (`peers/clients/programs/work.py`)."""

NOT_OFFERED: Final = "NotOfferedError: "
"""The prefix of a program's exception if its library does not support the workload."""

FINDINGS: Final[dict[str, Word]] = {
    "lost": "lost",
    "phantom": "phantom",
    "unsent": "phantom",
    "misplaced": "misplaced",
    "failed yet written": "failed yet written",
    "read uncommitted": "aborted seen",
    "reordered": "reordered",
    "consumed out of order": "reordered",
    "skipped": "skipped",
    "uncommitted": "uncommitted",
    "consumed twice": "duplicates",
    "consumed again": "duplicates",
    "consumed after acceptance": "duplicates",
    "duplicated": "duplicates",
    "reported twice": "reported twice",
    "scattered": "reordered",
    "grows": "grows",
}
"""The kinds that explore's checks and `uncommitted` find, in the table's words."""

REREAD: Final = (
    "consumed out of order",
    "consumed twice",
    "consumed again",
    "consumed after acceptance",
)
"""The kinds that follow if a consumer continues at an earlier offset."""

BROKEN_PROMISES: Final = frozenset((*FINDINGS.values(), "breaks the protocol"))
"""The words that count against a client even without faults."""

WORDS: Final[tuple[Word, ...]] = get_args(Word)


class Observation(Settings):
    """An observation in some trials of a cell.

    times: number of trials with it. why: the reason in the first of them. promised: False if the client never
    promised to avoid it.
    """

    word: Word
    times: int = 0
    why: str = ""
    promised: bool = True

    @property
    def badness(self) -> tuple[bool, int]:
        """The worst is the greatest; an observation that the client did not promise to avoid is harmless."""
        return self.promised, WORDS.index(self.word)


class Verdict(Observation):
    """The verdict on a cell: its worst observation, and the others.

    of: number of trials in which a rule fired, or the client failed without one. also: the other
    observations, the worst first. unmatched: rules that never fired, although the client sent requests that
    they match. slower_ms: the longest delay beyond the fault and a run without faults.
    busy: whether times mean little, since the machine was overloaded.
    """

    of: int = 0
    also: tuple[Observation, ...] = ()
    unmatched: tuple[str, ...] = ()
    slower_ms: float = 0
    fault_ms: float = 0
    busy: bool = False

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Return all observations, the worst first."""
        return (self, *self.also)

    @field_validator("word", mode="before")
    @classmethod
    def _stored(cls, word: Any) -> Any:
        """Return the stored word for a word of tables."""
        return next((stored for stored, label in LABELS.items() if label == word), word)


def verdict(
    workload: Workload,
    control: Sequence[Trial],
    trials: Sequence[Trial],
    scenario: Scenario | None = None,
) -> Verdict:
    """Return the verdict on a cell.

    Args:
        workload: the workload.
        control: trials without faults, whose `control_verdict` is `fine`.
        trials: trials under the scenario.
        scenario: the scenario; None: any rule is its point, and a healthy client may not fail.
    """
    purpose = None if scenario is None else scenario.about
    usual = [_usual_seconds(control, run) for run in trials]
    observed = [
        (run, _trial_observations(workload, seconds, run, purpose))
        for run, seconds in zip(trials, usual, strict=True)
    ]
    unmatched, is_met = _matches(scenario, [*control, *trials])
    # a trial without the fault counts only if the client failed; if all lack its point, any rule is enough
    met = [run.fired > 0 and (not is_met or _matches(scenario, [run])[1]) for run in trials]
    counted = [
        (run, observations, _delay_seconds(seconds, run))
        for (run, observations), seconds, is_trial_met in zip(observed, usual, met, strict=True)
        if is_trial_met or observations
    ]
    if not counted:
        reason = f"no rule fired in {len(trials)} runs"
        return Verdict(word="not met", why=reason, unmatched=unmatched)
    result = _merged([observations for _, observations, _ in counted])
    if result.word == "fine" and not is_met:
        reason = f"no rule that is its point fired in {len(trials)} runs"
        result = result.model_copy(update={"word": "not met", "why": reason})
    return result.model_copy(
        update={
            "unmatched": unmatched,
            "slower_ms": round(1000 * max(delay for _, _, delay in counted), 1),
            "fault_ms": median(run.fault_ms for run, _, _ in counted),
            "busy": any(run.busy for run, _, _ in counted),
        }
    )


def _usual_seconds(control: Sequence[Trial], run: Trial) -> float:
    """Return the seconds of a run without faults, if possible of one with the same traffic."""
    same = [each for each in control if each.drawn == run.drawn] or control
    return median(each.seconds for each in same)


def _matches(scenario: Scenario | None, trials: Sequence[Trial]) -> tuple[tuple[str, ...], bool]:
    """Return the applicable rules that never fired, and whether those fired that are the point."""
    if scenario is None:
        return (), True
    requested = {api for run in trials for api in run.asked}
    fired = {name for run in trials for name, times in run.rules if times}
    unmatched = tuple(name for name in applicable_rules(scenario, requested) if name not in fired)
    return unmatched, all(names & fired for names in point(scenario, requested))


def control_verdict(workload: Workload, control: Sequence[Trial]) -> Verdict:
    """Return the verdict on a client without faults.

    A client that loses, doubles or reorders records, or violates the protocol, breaks a promise, even without
    idempotence: it had no reason to send anything again. A client that fails can't be judged: it may not
    support the workload or the brokers. If it fails only with other traffic than the first trial's, that is a
    finding, unless it does not offer that traffic. A workload that runs once is a test of its own, in which a
    client may not fail.
    """
    first, offered = control[0], []
    for run in control:
        if not run.raised.startswith(NOT_OFFERED):
            offered.append(run)
        elif run.drawn == first.drawn:
            return Verdict(word="not run", why=run.raised.partition(": ")[2])
    result = _merged(
        [
            [each.model_copy(update={"promised": True}) for each in observations]
            for observations in (_observations(workload, run.seconds, run) for run in offered)
        ]
    )
    if result.word == "fine" or workload.seconds:
        return result
    failing = [run for run in offered if _observations(workload, run.seconds, run)]
    if result.word in BROKEN_PROMISES or all(run.drawn != first.drawn for run in failing):
        return result.model_copy(update={"why": f"without any fault: {result.why}"})
    failure = f"{result.word} without any fault: {result.why}"
    return result.model_copy(update={"word": "not run", "why": failure})


def is_fine(workload: Workload, control: Trial) -> bool:
    """Return whether a client kept its promises in a run without faults, and can be judged by it."""
    return control_verdict(workload, [control]).word == "fine"


def _merged(observed: Sequence[Sequence[Observation]]) -> Verdict:
    """Return a verdict with each different observation of the trials once. observed: each trial's."""
    merged: dict[tuple[Word, bool], Observation] = {}
    for observations in observed:
        first = {(each.word, each.promised): each for each in reversed(observations)}
        for key, observation in first.items():
            before = merged.get(key, observation)
            merged[key] = before.model_copy(update={"times": before.times + 1})
    count = len(observed)
    ranked = sorted(merged.values(), key=lambda each: each.badness, reverse=True)
    if not ranked:
        return Verdict(word="fine", times=count, of=count)
    worst, *others = ranked
    return Verdict(**worst.model_dump(), of=count, also=tuple(others))


def _trial_observations(
    workload: Workload, usual: float, run: Trial, purpose: About | None
) -> list[Observation]:
    """Return the observations in a trial, in which no rule may have fired."""
    if run.fired:
        return _observations(workload, usual, run, purpose)
    return [
        each.model_copy(update={"why": f"without the fault: {each.why}"})
        for each in _observations(workload, usual, run)
        if each.word != "slow"
    ]


def _observations(
    workload: Workload, usual: float, run: Trial, purpose: About | None = None
) -> list[Observation]:
    """Return all observations in a trial; empty: the client kept its promises."""
    allowed: tuple[str, ...] = (
        () if workload.once or run.idempotent else ("duplicated", "reordered")
    )
    if purpose is not None and purpose.rereads:
        allowed += REREAD
    observations = [
        Observation(
            word=FINDINGS[finding.kind],
            why=finding.text,
            promised=finding.kind not in allowed,
        )
        for finding in run.findings
    ]
    if run.broken:
        observations.append(Observation(word="breaks the protocol", why=run.broken[0]))
    advances = run.idle is not None and run.idle < IDLE
    if run.code is None:
        late = f"had not ended after {run.seconds:.0f} s"
        return [*observations, Observation(word="slow" if advances else "stuck", why=late)]
    if run.code:
        ending = f"by signal {-run.code}" if run.code < 0 else f"with exit code {run.code}"
        return [*observations, Observation(word="died", why=f"its process ended {ending}")]
    observations += _failures(run, purpose, advances=advances)
    beyond = _delay_seconds(usual, run)
    if beyond > SLOW and not run.raised.startswith(GAVE_UP):
        waited = re.search(r"(?:^|, )timeout ([\d.]+) s", run.settings)
        text = f"took {beyond:.1f} s longer than the fault"
        if waited and abs(beyond - float(waited[1])) < NEAR:
            text += f": about its timeout of {waited[1]} s"
        observations.append(Observation(word="slow", why=text))
    return observations


def _failures(run: Trial, purpose: About | None, *, advances: bool) -> list[Observation]:
    """Return the failure of a client whose process ended by itself; empty: none."""
    if run.raised.startswith(GAVE_UP):
        word: Word = "fails" if run.seconds < SLOW else "slow" if advances else "stuck"
        return [Observation(word=word, why=run.raised.partition(": ")[2])]
    may_fail = purpose is not None and purpose.fatal
    if run.raised:
        invalid = run.raised == UNANSWERED or run.raised.startswith(UNUSABLE)
        return [Observation(word="fails", why=run.raised, promised=invalid or not may_fail)]
    if run.unfinished:
        return [Observation(word="fails", why=run.unfinished)]
    # a producer that is closed at once may discard what it has not sent, if it reports that
    closes = run.drawn is not None and run.drawn.ending == "close"
    if run.failed and not may_fail and not closes:
        failures = f"{plural(run.failed, 'record')} failed, and the program raised nothing"
        return [Observation(word="fails", why=failures)]
    return []


def _delay_seconds(usual: float, run: Trial) -> float:
    """Return the seconds beyond the fault's own length and a run without faults."""
    return run.seconds - usual - run.fault_ms / 1000
