"""The judgement on a client's workload under a scenario: a pure function of its trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Final, Literal

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
    "skipped",
    "reordered",
    "aborted seen",
    "lost",
    "stuck",
    "died",
    "not run",
]
"""What is said of it, the harmless first. `not met`: the scenario's rules had nothing to do."""

SLOW: Final = 5.0
"""Seconds beyond the fault's own length and a run without faults, from which on a client is slow."""

GAVE_UP: Final = ("lines.GaveUpError: ", "main.gaveUp: ")
"""How what programs raise begins that waited in vain (`programs/lines.py`, `go/lines.go`)."""

NOT_OFFERED: Final = ("lines.NotOfferedError: ", "main.notOffered: ")
"""The same of those whose library can't do it."""

FINDINGS: Final[dict[str, Word]] = {
    "lost": "lost",
    "phantom": "lost",
    "misplaced": "lost",
    "failed yet written": "lost",
    "read uncommitted": "aborted seen",
    "reordered": "reordered",
    "consumed out of order": "reordered",
    "skipped": "skipped",
    "consumed again": "duplicates",
    "duplicated": "duplicates",
}
"""The kinds that explore's checks find, in the table's words."""

WORDS: Final[tuple[Word, ...]] = Word.__args__  # type: ignore[attr-defined]


class Verdict(Settings):
    """word: the worst of the trials'. times: how many of them it was the word of, `of` so many that the
    scenario met. why: of the first of these. slower_ms: the median beyond a run without faults. promised:
    False where what was seen is something that the client never promised. busy: times say little, since the
    machine had more to do than it could."""

    word: Word
    times: int = 0
    of: int = 0
    why: str = ""
    slower_ms: float = 0
    fault_ms: float = 0
    promised: bool = True
    busy: bool = False


def verdict(workload: Workload, control: Sequence[Trial], trials: Sequence[Trial]) -> Verdict:
    """The judgement. control: trials without faults, which must be fine: see `healthy`."""
    usual = median(one.seconds for one in control)
    met = [one for one in trials if one.fired]
    if not met:
        return Verdict(word="not met")
    said = [_said(workload, usual, one) for one in met]
    word = max((word for word, _, _ in said), key=WORDS.index)
    times = Counter(word for word, _, _ in said)[word]
    why, promised = next((why, promised) for each, why, promised in said if each == word)
    return Verdict(
        word=word,
        times=times,
        of=len(met),
        why=why,
        slower_ms=round(1000 * (median(one.seconds for one in met) - usual), 1),
        fault_ms=median(one.fault_ms for one in met),
        promised=promised,
        busy=any(one.busy for one in met),
    )


def healthy(workload: Workload, control: Sequence[Trial]) -> str:
    """Why a client can't be judged: what goes wrong without any fault. Empty: nothing does."""
    for one in control:
        if one.raised.startswith(NOT_OFFERED):
            return one.raised.partition(": ")[2]
        word, why, _ = _said(workload, one.seconds, one)
        if word != "fine":
            return f"{word} without any fault: {why}"
    return ""


def _said(workload: Workload, usual: float, one: Trial) -> tuple[Word, str, bool]:
    """Of one trial: the word, why, and whether the client promised otherwise."""
    if one.code is None:
        return "stuck", f"had not ended after {one.seconds:.0f} s", True
    if one.code:
        how = f"by signal {-one.code}" if one.code < 0 else f"with exit code {one.code}"
        return "died", f"its process ended {how}", True
    found: list[tuple[Word, str, bool]] = []
    for finding in one.findings:
        word = FINDINGS[finding.kind]
        once = workload.once or one.idempotent
        promised = once or finding.kind not in ("duplicated", "reordered")
        found.append((word, finding.text, promised))
    if one.broken:
        found.append(("breaks the protocol", one.broken[0], True))
    if one.raised.startswith(GAVE_UP):
        found.append(("stuck", one.raised.partition(": ")[2], True))
    elif one.raised:
        found.append(("fails", one.raised, True))
    if found:
        return max(found, key=lambda each: (each[2], WORDS.index(each[0])))
    beyond = one.seconds - usual - one.fault_ms / 1000
    if beyond > SLOW:
        return "slow", f"took {beyond:.1f} s longer than the fault", True
    return "fine", "", True
