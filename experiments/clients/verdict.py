"""The judgement on a client's workload under a scenario: a pure function of its trials."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median
from typing import Final, Literal, NamedTuple, get_args

from barnabas.experiments.clients.running import UNANSWERED
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
"""What is said of it, the harmless first. `not met`: the scenario's rules had nothing to do."""

SLOW: Final = 5.0
"""Seconds beyond the fault's own length and a run without faults, from which on a client is slow."""

NEAR: Final = 1.0
"""Seconds by which what a client was slower and its own timeout may differ for that to be why."""

GAVE_UP: Final = "GaveUpError: "
"""How what programs raise begins that waited in vain (`peers/clients/programs/work.py`)."""

NOT_OFFERED: Final = "NotOfferedError: "
"""The same of those whose library can't do it."""

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

WORDS: Final[tuple[Word, ...]] = get_args(Word)


class Seen(NamedTuple):
    """What was seen of a trial, and whether the client promised otherwise."""

    word: Word
    why: str = ""
    promised: bool = True

    @property
    def badness(self) -> tuple[bool, bool, int]:
        """The worst is the greatest; what a client never promised only counts before `fine`."""
        return self.word != "fine", self.promised, WORDS.index(self.word)


class Verdict(Settings):
    """word: the worst of the trials'. times: how many of them it was the word of, `of` so many that the
    scenario met, or in which the client did wrong without it. why: of the first of these. slower_ms: beyond
    the fault and a run without faults, of the same one. promised: False where what was seen is something that
    the client never promised. busy: times say little, since the machine had more to do than it could."""

    word: Word
    times: int = 0
    of: int = 0
    why: str = ""
    slower_ms: float = 0
    fault_ms: float = 0
    promised: bool = True
    busy: bool = False


def verdict(
    workload: Workload, control: Sequence[Trial], trials: Sequence[Trial], *, fatal: bool = False
) -> Verdict:
    """The judgement. control: trials without faults, which must be fine: see `healthy`. fatal: whether a
    healthy client may fail (`About.fatal`)."""
    usual = median(one.seconds for one in control)
    seen = [(one, _judged(workload, usual, one, fatal)) for one in trials]
    # of a trial without the fault only what is said against the client
    seen = [(one, each) for one, each in seen if one.fired or each.word not in ("fine", "slow")]
    if not seen:
        return Verdict(word="not met", why=f"no rule fired in {len(trials)} runs")
    worst_of, worst = max(seen, key=lambda each: each[1].badness)
    return Verdict(
        word=worst.word,
        times=sum(each.badness == worst.badness for _, each in seen),
        of=len(seen),
        why=worst.why,
        slower_ms=round(1000 * _beyond(usual, worst_of), 1),
        fault_ms=median(one.fault_ms for one, _ in seen),
        promised=worst.promised,
        busy=any(one.busy for one, _ in seen),
    )


def healthy(workload: Workload, control: Sequence[Trial]) -> str:
    """Why a client can't be judged: what goes wrong without any fault. Empty: nothing does."""
    for one in control:
        if one.raised.startswith(NOT_OFFERED):
            return one.raised.partition(": ")[2]
        seen = _seen(workload, one.seconds, one)
        if seen.word != "fine":
            return f"{seen.word} without any fault: {seen.why}"
    return ""


def _judged(workload: Workload, usual: float, one: Trial, fatal: bool) -> Seen:
    """The same of a trial whose fault may not have come."""
    if one.fired:
        return _seen(workload, usual, one, fatal)
    seen = _seen(workload, usual, one)
    return seen._replace(why=f"without the fault: {seen.why}")


def _seen(workload: Workload, usual: float, one: Trial, fatal: bool = False) -> Seen:
    """The worst of one trial."""
    if one.code is None:
        return Seen("stuck", f"had not ended after {one.seconds:.0f} s")
    if one.code:
        how = f"by signal {-one.code}" if one.code < 0 else f"with exit code {one.code}"
        return Seen("died", f"its process ended {how}")
    seen = [Seen("fine")]
    once = workload.once or one.idempotent
    for finding in one.findings:
        promised = once or finding.kind not in ("duplicated", "reordered")
        seen.append(Seen(FINDINGS[finding.kind], finding.text, promised))
    if one.broken:
        seen.append(Seen("breaks the protocol", one.broken[0]))
    if one.raised.startswith(GAVE_UP):
        seen.append(Seen("stuck", one.raised.partition(": ")[2]))
    elif one.raised:
        seen.append(Seen("fails", one.raised, not fatal or one.raised == UNANSWERED))
    elif one.unfinished:
        seen.append(Seen("fails", one.unfinished))
    beyond = _beyond(usual, one)
    if beyond > SLOW:
        waited = re.search(r"(?:^|, )timeout ([\d.]+) s", one.settings)
        text = f"took {beyond:.1f} s longer than the fault"
        if waited and abs(beyond - float(waited[1])) < NEAR:
            text += f": about its timeout of {waited[1]} s"
        seen.append(Seen("slow", text))
    return max(seen, key=lambda each: each.badness)


def _beyond(usual: float, one: Trial) -> float:
    """Seconds beyond the fault's own length and a run without faults."""
    return one.seconds - usual - one.fault_ms / 1000
