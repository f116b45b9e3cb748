"""Where cuts are made first."""

from __future__ import annotations

from barnabas.experiments.clients.cut_scenarios import in_turn
from barnabas.experiments.explore.cuts import CUTS, cuts
from barnabas.experiments.explore.plan import plan
from barnabas.experiments.explore.recording import Step

APIS = ("Produce", "Metadata", "ApiVersions")
"""By their keys."""


def test_the_first_cuts_are_of_each_api_and_at_each_moment() -> None:
    asked = ((api, number) for number in range(2) for api in reversed(APIS))
    steps = [Step(k, "c", api, number, number) for k, (api, number) in enumerate(asked)]
    found = in_turn(plan(steps, cuts(CUTS, "cuts"), per_api=9, limit=99).runs)
    first, then = ([(one.step.api, one.cut.name) for one in found[at : at + 3]] for at in (0, 3))
    assert [api for api, _ in first] == list(APIS)
    assert len({name for _, name in first}) == 3
    assert [api for api, _ in then] == list(APIS)
    assert not {*first} & {*then}
    assert len({(one.step, one.cut.name) for one in found}) == 18
