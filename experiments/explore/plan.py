"""The plan of an exploration: faults at exchanges, in an order that spreads evenly under any limit.

Exchanges that repeat (polls, heartbeats) are sampled: of each client and API the first, the last, the middle
one, and so on into the gaps between. All clients and APIs alternate, one exchange each, with all faults that
are meant for its API. So the runs under a smaller limit are the first ones under a larger limit, and an
exploration can be extended later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from barnabas.experiments.explore.cuts import Cut, fits
from barnabas.experiments.explore.recording import Step
from barnabas.proxy.faults import FAULTS, Fault


class Planned(NamedTuple):
    """A run: a fault at an exchange."""

    step: Step
    cut: Cut


class Plan(NamedTuple):
    """The runs in order, and the number of runs left out, by reason."""

    runs: tuple[Planned, ...]
    left_out: Counter[str]


def plan(
    steps: Sequence[Step],
    cuts: Sequence[Cut],
    *,
    apis: frozenset[str] | None = None,
    per_api: int,
    limit: int,
    faults: tuple[Fault, ...] = FAULTS,
) -> Plan:
    """Choose the runs.

    Args:
        steps: the recorded exchanges.
        cuts: the faults.
        apis: names of the APIs to include; None: all.
        per_api: exchanges of a client and API at most.
        limit: runs at most.
        faults: known kinds of faults.
    """
    left_out: Counter[str] = Counter()
    groups: dict[tuple[str, str], list[Step]] = {}
    first_calls: dict[tuple[str, str], int] = {}
    for step in steps:
        first_calls.setdefault((step.client, step.api), step.k)
        if apis is None or step.api in apis:
            groups.setdefault((step.client, step.api), []).append(step)
        else:
            left_out["of other APIs (--api)"] += len(_meant_for(step.api, cuts))
    chosen = []
    for (_, api), group in groups.items():
        chosen.append([group[index] for index in spread(len(group))][:per_api])
        beyond = max(len(group) - per_api, 0) * len(_meant_for(api, cuts))
        left_out["beyond --per-api"] += beyond
    runs: list[Planned] = []
    for step in _in_turn(chosen):
        for cut in _meant_for(step.api, cuts):
            if step.response is None and cut.direction == "response":
                left_out["on responses that were not recorded"] += 1
            elif cut.after and first_calls.get((step.client, cut.after), step.k) >= step.k:
                left_out["with errors that brokers do not give at that moment"] += 1
            elif not fits(step, cut, faults):
                left_out["with faults that do not apply to this API"] += 1
            else:
                runs.append(Planned(step, cut))
    left_out["beyond --limit"] += max(len(runs) - limit, 0)
    return Plan(tuple(runs[:limit]), +left_out)


def _meant_for(api: str, cuts: Iterable[Cut]) -> list[Cut]:
    return [cut for cut in cuts if cut.concerns(api)]


def spread(count: int) -> list[int]:
    """Return 0 to count - 1: the ends, then the middle of each gap, then of each remaining gap ...

    >>> spread(9)
    [0, 8, 4, 2, 6, 1, 3, 5, 7]
    """
    order = list(range(count))[:: max(count - 1, 1)]
    gaps = [(0, count - 1)]
    while gaps:
        order += [(low + high) // 2 for low, high in gaps if high - low > 1]
        halves = ((low, (low + high) // 2, high) for low, high in gaps if high - low > 1)
        gaps = [gap for low, middle, high in halves for gap in ((low, middle), (middle, high))]
    return order


def _in_turn(groups: Iterable[Sequence[Step]]) -> Iterable[Step]:
    for row in zip_longest(*groups):
        yield from (step for step in row if step is not None)
