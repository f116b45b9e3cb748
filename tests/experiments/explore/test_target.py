from __future__ import annotations

import pytest

from barnabas.experiments.explore.target import target


def test_a_file_by_a_person_has_no_number() -> None:
    rule = "{name: mine, match: {api: Fetch, direction: response, client_id: [a, b]}, do: close}"
    found = target(f"version: 1\nrules: [{rule}]", "mine.yaml")
    assert found[:6] == (0, "Fetch", "a or b", "mine", "response", "mine.yaml")


@pytest.mark.parametrize(
    "rules",
    [
        "[]",
        "[{name: a, do: close}]",
        "[{name: a, match: {api: [Fetch, Produce]}, do: close}]",
        "[{name: a, match: {api: 1}, do: close}, {name: b, match: {api: 1}, do: close}]",
    ],
)
def test_one_rule_about_one_api(rules: str) -> None:
    with pytest.raises(ValueError, match=r"mine.yaml: expected one rule that matches one API"):
        target(f"version: 1\nrules: {rules}", "mine.yaml")
