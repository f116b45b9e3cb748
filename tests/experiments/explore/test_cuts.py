from __future__ import annotations

import pytest

from barnabas.experiments.explore.cuts import CUTS, cuts, file_name, fits, scenario_text
from barnabas.experiments.explore.recording import Step
from barnabas.experiments.explore.target import target
from barnabas.proxy.scenario.file import loads

STEP = Step(12, "orders-*", "Produce", 4, 3)


def test_a_scenario_meets_the_exchange_and_nothing_else() -> None:
    before, _, after = cuts(CUTS, "default")
    (rule,) = loads(scenario_text(STEP, before)).rules
    assert (rule.when.skip, rule.when.times, rule.when.scope) == (4, 1, "rule")
    assert rule.match.describe() == "Produce request of client orders-*"
    (rule,) = loads(scenario_text(STEP, after)).rules
    assert (rule.when.skip, rule.match.direction) == (3, "response")


def test_a_scenario_of_a_template_is_read_again_as_it_was_meant() -> None:
    text = "version: 1\nseed: 9\nrules:\n  - {name: 'ü/ 2', do: [{delay: 2s}, {edit: {set: {acks: 1}}}]}"
    (cut,) = cuts(text, "template")
    again = target(scenario_text(STEP, cut), file_name(STEP, cut))
    assert again.name == "012-Produce-2.yaml"
    assert again[:5] == (12, "Produce", "orders-*", "ü/ 2", "request")
    assert again.scenario.seed == 9
    assert [fault.name for fault in again.scenario.rules[0].do] == ["delay", "edit"]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("[]", "at least one rule"),
        ("[{name: a, match: {topic: t}, do: close}]", "rule 'a' gives topic"),
        ("[{name: a, when: {times: 1}, do: close}]", "rule 'a' gives when"),
        ("[{name: a/b, do: close}, {name: a b, do: reset}]", "would have the same file name"),
        ("[{name: a, do: clos}]", "unknown fault"),
    ],
)
def test_what_is_no_template_is_said(rules: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as problem:
        cuts(f"version: 1\nrules: {rules}", "mine.yaml")
    assert "mine.yaml" in str(problem.value)


def test_a_rule_of_some_apis_is_for_their_exchanges() -> None:
    text = (
        "version: 1\nrules: [{name: a, match: {api: [Fetch, 26]}, do: close}, {name: b, do: close}]"
    )
    some, everywhere = cuts(text, "template")
    assert [some.concerns(api) for api in ("Fetch", "EndTxn", "Produce")] == [True, True, False]
    assert everywhere.concerns("Produce")


def test_what_an_api_can_not_have() -> None:
    text = "version: 1\nrules: [{name: a, do: {edit: {set: {acks: 1}}}}, {name: b, do: refuse}]"
    edit, refuse = cuts(text, "template")
    assert fits(STEP, edit)
    assert not fits(STEP._replace(api="Fetch"), edit)
    assert not fits(STEP, refuse)
