"""A run as a sequence diagram: from the commit to what the new owner reads its offsets with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.designs.rebalances.judging import Run, gives_up, pair
from barnabas.designs.rebalances.passed import Passed
from barnabas.designs.results.diagram import Arrow

PARTICIPANTS: Final = ("m", "a", "z", "proxy", "broker")
MOST: Final = 40
"""Arrows in a diagram."""
SHOWN: Final = ("OffsetCommit", "OffsetFetch", "JoinGroup", "SyncGroup", "LeaveGroup")


def arrows(run: Run, by: str) -> list[Arrow]:
    """Return the messages from the marked commit to the new owner's OffsetFetch, in ms from the commit on."""
    commit, _ = pair(run, by)
    if commit is None:
        return []
    own = (one for one in run.passed if one.letter == "a" and one.api == "OffsetFetch")
    end = next((one.answered or one.came for one in own if one.committed), commit.came + 10)
    found: list[Arrow] = []
    for one in run.passed:
        over = one.answered or one.came
        if one.came <= end and over >= commit.came and _shown(one):
            found += _arrows(one, commit.came, end)
    return sorted(found, key=lambda arrow: arrow.at)[:MOST]


def _shown(one: Passed) -> bool:
    if one.api == "OffsetCommit":
        return one.mark != "later"
    return one.api in SHOWN or gives_up(one)


def _arrows(one: Passed, begin: float, end: float) -> Iterator[Arrow]:
    about = f"{one.api} {one.mark}".strip() if one.api == "OffsetCommit" else one.api
    name = f"{about} #{one.number}"

    def at(when: float) -> float:
        return round((when - begin) * 1e3, 1)

    if one.late:
        yield Arrow(at(one.came), one.letter, "proxy", name)
        if one.left <= end:
            yield Arrow(at(one.left), "proxy", "broker", name)
    else:
        yield Arrow(at(one.came), one.letter, "broker", name)
    if one.answered is not None and one.answered <= end:
        said = one.error or "answer to"
        if one.api == "OffsetFetch":
            said = " ".join(f"{p}@{offset}" for p, offset in sorted(one.committed.items()))
        yield Arrow(at(one.answered), "broker", one.letter, f"{said} #{one.number}")
