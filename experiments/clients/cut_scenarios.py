"""Scenarios that cut the connection at one exchange of a run without faults each, as `explore` does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import Final

from barnabas.captures.capture import open_capture
from barnabas.experiments.explore.cuts import CUTS, cuts, scenario_text, slug
from barnabas.experiments.explore.plan import Planned, plan
from barnabas.experiments.explore.recording import Step, recorded, steps
from barnabas.proxy.scenario.file import Scenario, loads
from barnabas.specs.registry import key_of

CUT: Final = "cut-"
"""The first letters of these scenarios' names."""


def cut_scenarios(capture: Path, limit: int) -> list[tuple[str, Scenario]]:
    """Return at most `limit` scenarios, with names.

    `cut-Produce-1-after-the-broker-has-it` cuts the connection at a client's first Produce. The APIs
    alternate: first the first exchange of each at one moment, then at the other moments, then the last and
    the middle exchanges.

    Raises:
        OSError: The capture can't be read.
    """
    exchanges = steps(map(recorded, open_capture(capture).exchanges()), "").steps
    chosen = plan(exchanges, cuts(CUTS, "cuts"), per_api=limit, limit=limit * len(exchanges))
    return [
        (
            f"{CUT}{step.api}-{step.request + 1}-{slug(cut.name)}",
            loads(scenario_text(step, cut)),
        )
        for step, cut in in_turn(chosen.runs)[:limit]
    ]


def in_turn(runs: Iterable[Planned]) -> list[Planned]:
    """Order runs so that APIs and moments alternate.

    First comes the first exchange of each API, each at another moment than the API before; then the same
    exchanges at their other moments; then the next exchange of each API.
    """
    groups: dict[Step, list[Planned]] = {}
    for planned in runs:
        groups.setdefault(planned.step, []).append(planned)
    # the order must not depend on which of two concurrent requests is the first
    apis = sorted(
        {(step.client, step.api) for step in groups}, key=lambda api: (api[0], key_of(api[1]))
    )
    before: Counter[tuple[str, str]] = Counter()
    rows: dict[int, list[list[Planned]]] = {}
    for step, group in sorted(
        groups.items(), key=lambda item: apis.index((item[0].client, item[0].api))
    ):
        api = step.client, step.api
        first = apis.index(api) % len(group)
        rows.setdefault(before[api], []).append(group[first:] + group[:first])
        before[api] += 1
    turns = (turn for row in rows.values() for turn in zip_longest(*row))
    return [planned for turn in turns for planned in turn if planned is not None]
