"""Scenarios that cut the connection at one exchange each, made of a run without faults, as `explore` does."""

from __future__ import annotations

from pathlib import Path

from barnabas.captures.capture import open_capture
from barnabas.experiments.explore.cuts import CUTS, cuts, scenario_text, slug
from barnabas.experiments.explore.plan import plan
from barnabas.experiments.explore.recording import seen, steps
from barnabas.proxy.scenario.file import Scenario, loads


def cut_scenarios(capture: Path, limit: int) -> list[tuple[str, Scenario]]:
    """At most so many, with their names: `cut-Produce-1-after-the-broker-has-it` is about a client's first
    Produce. All APIs get their turn, with the first, the last and the middle exchange of each before others.
    Raises OSError."""
    found = steps(map(seen, open_capture(capture).exchanges()), "")
    chosen = plan(found.steps, cuts(CUTS, "cuts"), per_api=limit, limit=limit)
    return [
        (
            f"cut-{step.api}-{step.request + 1}-{slug(cut.name)}",
            loads(scenario_text(step, cut)),
        )
        for step, cut in chosen.runs
    ]
