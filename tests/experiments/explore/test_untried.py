from __future__ import annotations

from collections import Counter

from barnabas.experiments.explore.cuts import Cut, cuts
from barnabas.experiments.explore.errors import ERRORS
from barnabas.experiments.explore.plan import Planned
from barnabas.experiments.explore.recording import Step
from barnabas.experiments.explore.untried import NEVER, Untried, untried

KNOWN = {
    "Produce": frozenset(("INVALID_RECORD", "MESSAGE_TOO_LARGE")),
    "Fetch": frozenset(("NOT_LEADER_OR_FOLLOWER",)),
}


def run(api: str, *faults: Cut) -> list[Planned]:
    return [Planned(Step(1, "c", api, 0, 0), cut) for cut in faults if cut.concerns(api)]


def remaining(runs: list[Planned], *apis: str, own_template: bool = False) -> Untried:
    return untried(Counter({"a": 1}), apis, runs, KNOWN, own_template=own_template)


def test_errors_of_recorded_apis_that_no_run_has_given() -> None:
    rest = remaining(run("Produce", *ERRORS), "Produce", "Metadata")
    assert rest.errors == {"Produce": ("INVALID_RECORD",)}
    assert rest.runs == {"a": 1}
    assert remaining([], "Fetch").errors == {"Fetch": ("NOT_LEADER_OR_FOLLOWER",)}
    assert remaining(run("Fetch", *ERRORS), "Fetch").errors == {}


def test_errors_of_a_template_are_in_its_faults() -> None:
    text = "version: 1\nrules: [{name: a, do: [{delay: 1s}, {respond: {error: INVALID_RECORD}}]}]"
    rest = remaining(run("Produce", *cuts(text, "mine")), "Produce", own_template=True)
    assert rest.errors == {"Produce": ("MESSAGE_TOO_LARGE",)}
    assert rest.kinds == NEVER
