"""The verdict on a client's workload under a scenario: a pure function of its trials."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median
from typing import Any, Final, Literal, NamedTuple, get_args

from pydantic import field_validator

from barnabas.experiments.clients.runs import UNANSWERED
from barnabas.experiments.clients.trial import Trial
from barnabas.experiments.clients.workloads import Workload
from barnabas.proxy.matching.settings import Settings

Word = Literal[
    "fine",
    "not met",
    "slow",
    "duplicates",
    "fails",
    "breaks the protocol",
    "uncommitted",
    "skipped",
    "reordered",
    "aborted seen",
    "misplaced",
    "phantom",
    "failed yet written",
    "lost",
    "stuck",
    "died",
    "not run",
]
"""The verdicts as stored, the harmless first. `not met`: no rule of the scenario fired."""

LABELS: Final[dict[Word, str]] = {"fine": "as expected", "not met": "rule never matched"}
"""The words of tables for stored verdicts, where they differ. Files may have either."""

SLOW: Final = 5.0
"""Seconds beyond the fault's own length and a run without faults, from which on a client is slow."""

NEAR: Final = 1.0
"""The difference in seconds up to which a delay counts as caused by the client's own timeout."""

GAVE_UP: Final = "GaveUpError: "
"""The prefix of a program's exception after a timeout (`peers/clients/programs/work.py`)."""

NOT_OFFERED: Final = "NotOfferedError: "
"""The prefix of a program's exception if its library does not support the workload."""

FINDINGS: Final[dict[str, Word]] = {
    "lost": "lost",
    "phantom": "phantom",
    "misplaced": "misplaced",
    "failed yet written": "failed yet written",
    "read uncommitted": "aborted seen",
    "reordered": "reordered",
    "consumed out of order": "reordered",
    "skipped": "skipped",
    "uncommitted": "uncommitted",
    "consumed again": "duplicates",
    "consumed after acceptance": "duplicates",
    "duplicated": "duplicates",
}
"""The kinds that explore's checks and `uncommitted` find, in the table's words."""

BROKEN_PROMISES: Final = frozenset((*FINDINGS.values(), "breaks the protocol"))
"""The words that count against a client even without faults."""

WORDS: Final[tuple[Word, ...]] = get_args(Word)


class Observation(NamedTuple):
    """The worst observation of a trial, and whether the client promised otherwise."""

    word: Word
    reason: str = ""
    promised: bool = True

    @property
    def badness(self) -> tuple[bool, bool, int]:
        """The worst is the greatest; what a client never promised only counts before `fine`."""
        return self.word != "fine", self.promised, WORDS.index(self.word)


class Verdict(Settings):
    """The verdict on a cell.

    word: the worst of the trials' verdicts. times: number of trials with that verdict, of `of` trials in
    which a rule fired, or the client failed without one. why: the reason in the worst trial. slower_ms: its
    delay beyond the fault and a run without faults. promised: False for an observation that the client never
    promised to avoid. busy: whether times mean little, since the machine was overloaded.
    """

    word: Word
    times: int = 0
    of: int = 0
    why: str = ""
    slower_ms: float = 0
    fault_ms: float = 0
    promised: bool = True
    busy: bool = False

    @field_validator("word", mode="before")
    @classmethod
    def _stored(cls, word: Any) -> Any:
        """Return the stored word for a word of tables."""
        return next((stored for stored, label in LABELS.items() if label == word), word)


def verdict(
    workload: Workload, control: Sequence[Trial], trials: Sequence[Trial], *, fatal: bool = False
) -> Verdict:
    """Return the verdict on a cell.

    Args:
        workload: the workload.
        control: trials without faults, whose `control_verdict` is `fine`.
        trials: trials under the scenario.
        fatal: whether a healthy client may fail (`About.fatal`).
    """
    usual = median(run.seconds for run in control)
    observations = [(run, _trial_observation(workload, usual, run, fatal)) for run in trials]
    # a trial without the fault counts only if the client failed
    observations = [
        (run, observation)
        for run, observation in observations
        if run.fired or observation.word not in ("fine", "slow")
    ]
    if not observations:
        return Verdict(word="not met", why=f"no rule fired in {len(trials)} runs")
    worst_of, worst = max(observations, key=lambda observation: observation[1].badness)
    return Verdict(
        word=worst.word,
        times=sum(observation.badness == worst.badness for _, observation in observations),
        of=len(observations),
        why=worst.reason,
        slower_ms=round(1000 * _delay_seconds(usual, worst_of), 1),
        fault_ms=median(run.fault_ms for run, _ in observations),
        promised=worst.promised,
        busy=any(run.busy for run, _ in observations),
    )


def control_verdict(workload: Workload, control: Sequence[Trial]) -> Verdict:
    """Return the verdict on a client without faults.

    A client that loses, doubles or reorders records, or violates the protocol, breaks a promise, even without
    idempotence: it had no reason to send anything again. A client that fails can't be judged: it may not
    support the workload or the brokers.
    """
    observations = []
    for run in control:
        if run.raised.startswith(NOT_OFFERED):
            return Verdict(word="not run", why=run.raised.partition(": ")[2])
        observation = _worst_observation(workload, run.seconds, run)
        observations.append(observation._replace(promised=True))
    worst = max(observations, key=lambda observation: observation.badness)
    count = len(control)
    if worst.word == "fine":
        return Verdict(word="fine", times=count, of=count)
    why = f"{worst.word} without any fault: {worst.reason}"
    if worst.word not in BROKEN_PROMISES:
        return Verdict(word="not run", times=count, of=count, why=why)
    times = sum(observation.word == worst.word for observation in observations)
    return Verdict(word=worst.word, times=times, of=count, why=why)


def _trial_observation(workload: Workload, usual: float, run: Trial, fatal: bool) -> Observation:
    """Return the worst observation of a trial, in which no rule may have fired."""
    if run.fired:
        return _worst_observation(workload, usual, run, fatal)
    observation = _worst_observation(workload, usual, run)
    return observation._replace(reason=f"without the fault: {observation.reason}")


def _worst_observation(
    workload: Workload, usual: float, run: Trial, fatal: bool = False
) -> Observation:
    """Return the worst observation of a trial."""
    if run.code is None:
        return Observation("stuck", f"had not ended after {run.seconds:.0f} s")
    if run.code:
        ending = f"by signal {-run.code}" if run.code < 0 else f"with exit code {run.code}"
        return Observation("died", f"its process ended {ending}")
    observations = [Observation("fine")]
    once = workload.once or run.idempotent
    for finding in run.findings:
        promised = once or finding.kind not in ("duplicated", "reordered")
        observations.append(Observation(FINDINGS[finding.kind], finding.text, promised))
    if run.broken:
        observations.append(Observation("breaks the protocol", run.broken[0]))
    if run.raised.startswith(GAVE_UP):
        observations.append(Observation("stuck", run.raised.partition(": ")[2]))
    elif run.raised:
        observations.append(Observation("fails", run.raised, not fatal or run.raised == UNANSWERED))
    elif run.unfinished:
        observations.append(Observation("fails", run.unfinished))
    beyond = _delay_seconds(usual, run)
    if beyond > SLOW:
        waited = re.search(r"(?:^|, )timeout ([\d.]+) s", run.settings)
        text = f"took {beyond:.1f} s longer than the fault"
        if waited and abs(beyond - float(waited[1])) < NEAR:
            text += f": about its timeout of {waited[1]} s"
        observations.append(Observation("slow", text))
    return max(observations, key=lambda each: each.badness)


def _delay_seconds(usual: float, run: Trial) -> float:
    """Return the seconds beyond the fault's own length and a run without faults."""
    return run.seconds - usual - run.fault_ms / 1000
