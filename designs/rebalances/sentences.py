"""Sentences about the figures of one version; each needs runs that it is about."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.designs.rebalances.counting import Figures, counted, puts_back, rows, spread
from barnabas.designs.results.intervals import share

By = dict[tuple[str, str], list[Figures]]
"""Runs by arm, and by whether the overtaking happened."""


def follows(runs: Sequence[Figures]) -> list[str]:
    """Write what follows from the figures of one version."""
    by = {(name, order): own for name, order, own in rows(runs)}
    said = [line for line in (_overtaken(by), _elsewhere(by), _listener(by), _others(by)) if line]
    agreed = [one for one in runs if one["read_from"]]
    same = sum(one["read_from"] == one["log_had"] for one in agreed)
    fetches = [
        one["first_fetch"][p] == one["read_from"].get(p)
        for one in agreed
        for p in one["first_fetch"]
    ]
    lines = [f"- {line}" for line in said]
    if agreed:
        lines.append(
            f"- The new owner was answered by OffsetFetch what the log of __consumer_offsets had at that "
            f"time in {same} of {len(agreed)} runs; its first Fetch of a partition began there in "
            f"{sum(fetches)} of {len(fetches)} cases."
        )
    return ["\n".join(lines)] if lines else []


def _counts(own: Sequence[Figures]) -> str:
    twice = sum(one["twice"] > 0 for one in own)
    return (
        f"it counted in {share(sum(one['in_log'] for one in own), len(own))}; records were read twice "
        f"in {share(twice, len(own))}, {spread(one['twice'] for one in own)} of them"
    )


def _puts_back(own: Sequence[Figures]) -> str:
    hits = share(sum(map(puts_back, own)), len(own))
    return f"it put a newer offset back in {hits}; {_counts(own)}"


def _overtaken(by: By) -> str:
    own = by.get(("same connection", "yes"))
    base = [
        one for name in ("no proxy", "proxy without a rule") for one in by.get((name, "no"), [])
    ]
    if not own:
        return ""
    without = ""
    if base:
        twice = sum(one["twice"] > 0 for one in base)
        without = (
            f" Where nothing overtook it (no proxy, or one without a rule), records were read twice in "
            f"{share(twice, len(base))}, and the stall was {spread(one['stall_ms'] for one in base)} ms."
        )
    return (
        f"A commit that was overtaken on its own connection: {_counts(own)}. The broker answered "
        f"{counted(one['error'] or 'no error' for one in own)}, the application was told "
        f"{counted(one['told'] or 'nothing' for one in own)}. Delivery stood still for "
        f"{spread(one['stall_ms'] for one in own)} ms, with "
        f"{spread(one['ghosts'] for one in own)} ghosts.{without}"
    )


def _elsewhere(by: By) -> str:
    said = [
        f"{words}: {_counts(own)}"
        for name, words in (
            ("other connection", "behind the rebalance"),
            ("other, a third awaited", "while the group waited for a third member"),
            ("the other member's join", "behind the other member's JoinGroup, before m's own"),
        )
        if (own := by.get((name, "yes")))
    ]
    return f"Over another connection, or behind another member: {'; '.join(said)}." if said else ""


def _listener(by: By) -> str:
    said = []
    for order in ("yes", "no"):
        own = by.get(("listener, same connection", order))
        if own:
            what = "was" if order == "yes" else "was not"
            said.append(
                f"on the same connection JoinGroup {what} first in {len(own)} runs: {_counts(own)}"
            )
    for name in ("listener, other connection", "listener, other, awaited"):
        own = by.get((name, "yes"))
        if own:
            said.append(f"{name.removeprefix('listener, ')}, overtaken: {_puts_back(own)}")
    return f"With commitSync in onPartitionsRevoked: {'; '.join(said)}." if said else ""


def _others(by: By) -> str:
    said = []
    if own := by.get(("retry in the callback", "yes")):
        said.append(f"A retry that came behind a newer commit: {_puts_back(own)}.")
    if own := [o for order in ("yes", "no") for o in by.get(("client of 0.10.0.1", order), [])]:
        hits = sum(one["overtaken"] for one in own)
        said.append(
            f"The client of 0.10.0.1 was overtaken in {share(hits, len(own))}: {_counts(own)}."
        )
    if own := by.get(("same, answers not put back", "yes")):
        early = by.get(("same, answers not put back", "no join"), [])
        before = (
            f"; in {len(early)} more it ended before it joined ({_deaths(early)}): what else the client had "
            "asked behind the commit was answered first"
            if early
            else ""
        )
        said.append(
            f"Where the answers were not put back into the client's order, in {len(own)} runs m's poll ended "
            f"with {_deaths(own)}{before}."
        )
    if own := by.get(("same, answers not put back", "no")):
        said.append(_off_by_one(own))
    return " ".join(filter(None, said))


def _off_by_one(own: Sequence[Figures]) -> str:
    """Write about runs that lost the member; empty: no such runs."""
    lost = [one for one in own if one["ghosts"] and one["protocol"] == "consumer"]
    if not lost:
        return ""
    return (
        f"In the {len(own)} where nothing overtook the commit, what followed it was a heartbeat that gives "
        "nothing up, so the proxy held the commit to the end of its 5 s. The heartbeat's answer came first, "
        "and the client took it for the commit's (CorrelationIdMismatchException in the log of 4.3.1; no "
        "member ID or epoch was refused). It discards the commit with that, so that every later answer on "
        "the connection is one off: the heartbeat stays under way, and no other is sent. "
        f"In {len(lost)} of them the broker therefore dropped m when its session was over; until then m read "
        "the partition that stayed its own, and committed. The late commit then put these newer offsets "
        f"back; the next owner began there: {spread(one['twice'] for one in lost)} records were read twice."
    )


def _deaths(runs: Sequence[Figures]) -> str:
    """Write the exceptions with which members ended."""
    found = counted(death[2] for one in runs for death in one["died"] if death[1] == "died")
    return found or "no exception"
