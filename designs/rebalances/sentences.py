"""Sentences about the figures of one version; each needs runs that it is about."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.designs.rebalances.totals import Figures, counted, puts_back, rows, spread
from barnabas.designs.results.intervals import share

By = dict[tuple[str, str], list[Figures]]
"""Runs by arm, and by whether the overtaking happened."""


def follows(runs: Sequence[Figures]) -> list[str]:
    """Write what follows from the figures of one version."""
    by = {(name, order): arm_runs for name, order, arm_runs in rows(runs)}
    sentences = [
        line for line in (_overtaken(by), _elsewhere(by), _listener(by), _other_arms(by)) if line
    ]
    agreed = [run for run in runs if run["read_from"]]
    same = sum(run["read_from"] == run["log_had"] for run in agreed)
    fetches = [
        run["first_fetch"][p] == run["read_from"].get(p)
        for run in agreed
        for p in run["first_fetch"]
    ]
    lines = [f"- {line}" for line in sentences]
    if agreed:
        lines.append(
            f"- The new owner was answered by OffsetFetch what the log of __consumer_offsets had at that "
            f"time in {same} of {len(agreed)} runs; its first Fetch of a partition began there in "
            f"{sum(fetches)} of {len(fetches)} cases."
        )
    return ["\n".join(lines)] if lines else []


def _counts(cell: Sequence[Figures]) -> str:
    twice = sum(run["twice"] > 0 for run in cell)
    return (
        f"it counted in {share(sum(run['in_log'] for run in cell), len(cell))}; records were read twice "
        f"in {share(twice, len(cell))}, {spread(run['twice'] for run in cell)} of them"
    )


def _puts_back(cell_runs: Sequence[Figures]) -> str:
    hits = share(sum(map(puts_back, cell_runs)), len(cell_runs))
    return f"it put a newer offset back in {hits}; {_counts(cell_runs)}"


def _overtaken(by: By) -> str:
    overtaken_runs = by.get(("same connection", "yes"))
    base = [
        run for name in ("no proxy", "proxy without a rule") for run in by.get((name, "no"), [])
    ]
    if not overtaken_runs:
        return ""
    without = ""
    if base:
        twice = sum(run["twice"] > 0 for run in base)
        without = (
            f" Where nothing overtook it (no proxy, or one without a rule), records were read twice in "
            f"{share(twice, len(base))}, and the stall was {spread(run['stall_ms'] for run in base)} ms."
        )
    return (
        f"A commit that was overtaken on its own connection: {_counts(overtaken_runs)}. The broker answered "
        f"{counted(run['error'] or 'no error' for run in overtaken_runs)}, the application was told "
        f"{counted(run['told'] or 'nothing' for run in overtaken_runs)}. Delivery stood still for "
        f"{spread(run['stall_ms'] for run in overtaken_runs)} ms, with "
        f"{spread(run['ghosts'] for run in overtaken_runs)} ghosts.{without}"
    )


def _elsewhere(by: By) -> str:
    sentences = [
        f"{words}: {_counts(arm_runs)}"
        for name, words in (
            ("other connection", "behind the rebalance"),
            ("other, a third awaited", "while the group waited for a third member"),
            ("the other member's join", "behind the other member's JoinGroup, before m's own"),
        )
        if (arm_runs := by.get((name, "yes")))
    ]
    return (
        f"Over another connection, or behind another member: {'; '.join(sentences)}."
        if sentences
        else ""
    )


def _listener(by: By) -> str:
    sentences = []
    for order in ("yes", "no"):
        arm_runs = by.get(("listener, same connection", order))
        if arm_runs:
            verb = "was" if order == "yes" else "was not"
            sentences.append(
                f"on the same connection JoinGroup {verb} first in {len(arm_runs)} runs: {_counts(arm_runs)}"
            )
    for name in ("listener, other connection", "listener, other, awaited"):
        arm_runs = by.get((name, "yes"))
        if arm_runs:
            sentences.append(
                f"{name.removeprefix('listener, ')}, overtaken: {_puts_back(arm_runs)}"
            )
    return f"With commitSync in onPartitionsRevoked: {'; '.join(sentences)}." if sentences else ""


def _other_arms(by: By) -> str:
    sentences = []
    if arm := by.get(("retry in the callback", "yes")):
        sentences.append(f"A retry that came behind a newer commit: {_puts_back(arm)}.")
    if arm := [o for order in ("yes", "no") for o in by.get(("client of 0.10.0.1", order), [])]:
        hits = sum(run["overtaken"] for run in arm)
        sentences.append(
            f"The client of 0.10.0.1 was overtaken in {share(hits, len(arm))}: {_counts(arm)}."
        )
    if arm := by.get(("same, answers not put back", "yes")):
        early = by.get(("same, answers not put back", "no join"), [])
        before = (
            f"; in {len(early)} more it ended before it joined ({_deaths(early)}): what else the client had "
            "asked behind the commit was answered first"
            if early
            else ""
        )
        sentences.append(
            f"Where the answers were not put back into the client's order, in {len(arm)} runs m's poll ended "
            f"with {_deaths(arm)}{before}."
        )
    if arm := by.get(("same, answers not put back", "no")):
        sentences.append(_off_by_one(arm))
    return " ".join(filter(None, sentences))


def _off_by_one(cell: Sequence[Figures]) -> str:
    """Write about runs that lost the member; empty: no such runs."""
    lost = [run for run in cell if run["ghosts"] and run["protocol"] == "consumer"]
    if not lost:
        return ""
    return (
        f"In the {len(cell)} where nothing overtook the commit, what followed it was a heartbeat that gives "
        "nothing up, so the proxy held the commit to the end of its 5 s. The heartbeat's answer came first, "
        "and the client took it for the commit's (CorrelationIdMismatchException in the log of 4.3.1; no "
        "member ID or epoch was refused). It discards the commit with that, so that every later answer on "
        "the connection is one off: the heartbeat stays under way, and no other is sent. "
        f"In {len(lost)} of them the broker therefore dropped m when its session was over; until then m read "
        "the partition that stayed its own, and committed. The late commit then put these newer offsets "
        f"back; the next owner began there: {spread(run['twice'] for run in lost)} records were read twice."
    )


def _deaths(runs: Sequence[Figures]) -> str:
    """Write the exceptions with which members ended."""
    reasons = counted(death[2] for run in runs for death in run["died"] if death[1] == "died")
    return reasons or "no exception"
