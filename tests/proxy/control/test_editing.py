"""A rule more or less in a scenario's text."""

from __future__ import annotations

import pytest

from barnabas.proxy.control.editing import EMPTY, with_rule, with_rules, without_rule
from barnabas.proxy.scenario.errors import ScenarioError
from barnabas.proxy.scenario.file import loads

FULL = """\
version: 1
seed: 7
rules:
  - name: ä
    match: {api: Fetch, direction: response, version: 3-9, client_id: "on"}
    where: "throttle_time_ms > 5"
    when: {skip: 2, times: 1, probability: 0.5}
    do:
      - {delay: {by: 200ms, jitter: 50ms}}
      - {close: {forward: true}}
"""


def test_the_rest_stays_what_it_means() -> None:
    text = with_rule(FULL, "{name: b, do: close}")
    before, after = loads(FULL), loads(text)
    assert after.seed == 7
    assert after.rules[0] == before.rules[0]
    assert [rule.name for rule in after.rules] == ["ä", "b"]
    assert "ä" in text
    assert loads(without_rule(text, "b")).rules == before.rules
    assert loads(without_rule(text, "ä")).rules == after.rules[1:]


@pytest.mark.parametrize(("rule", "said"), [
    ("{name: ä, do: close}", ("rule:1: a rule is called 'ä' already",)),
    ("name: b\ndo:\n  delai: 1s\n", ("rule:3: unknown key 'delai'",)),
    ("name: b\nname: c\ndo: close", ("rule:2: the key 'name' comes twice",)),
    ("- name: b", ("rule:1: ",)),
    ("", ("rule:1: ",)),
    ("{", ("rule:1: ",)),
    ("do: close\nwhen: {times: -1}", ("rule:1: ", "rule:2: ")),
])  # fmt: skip
def test_all_that_is_wrong_with_a_rule_is_said_with_its_lines(
    rule: str, said: tuple[str, ...]
) -> None:
    with pytest.raises(ScenarioError) as caught:
        with_rule(FULL, rule)
    problems = caught.value.problems
    assert len(problems) == len(said)
    for problem, begin in zip(sorted(problems), said, strict=True):
        assert problem.startswith(begin)


def test_a_rule_that_is_not_there_can_not_be_removed() -> None:
    with pytest.raises(LookupError):
        without_rule(EMPTY, "a")


def test_of_several_rules_the_first_that_is_wrong_is_said() -> None:
    cut = "{name: cut, do: close}"
    with pytest.raises(ScenarioError, match="'cut' already"):
        with_rules(FULL, [cut, cut, "{"])
    assert [rule.name for rule in loads(with_rules(FULL, [cut])).rules] == ["ä", "cut"]
