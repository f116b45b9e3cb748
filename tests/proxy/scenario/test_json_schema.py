from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from barnabas.proxy.faults import FAULTS
from barnabas.proxy.matching.match import Match
from barnabas.proxy.scenario.completion import completion
from barnabas.proxy.scenario.json_schema import scenario_schema
from barnabas.specs.dialects import names
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.registry import NAMES
from tests.places import ROOT

jsonschema = pytest.importorskip("jsonschema")

EXAMPLES = sorted(ROOT.joinpath("experiments/scenarios").glob("*.yaml"))


@cache
def validator() -> Any:
    schema = scenario_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def accepts(text: str) -> bool:
    return bool(validator().is_valid(yaml.safe_load(text)))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.stem))
def test_examples_are_accepted(path: Path) -> None:
    assert accepts(path.read_text())


@pytest.mark.parametrize("rule", [
    "do: close", "do: [duplicate, slice, {half_close: }, {delay: 1s, close: {forward: true}}]",
    "do: {delay: {by: 1.5 s, jitter: 3us, distribution: pareto}}",
    "do: {hold: {until: {api: 11, same: any, direction: request}}}",
    "{match: {api: [fetch, Produce, 3], version: 3-9, broker: [1, 2]}, do: drop}",
    "{match: {topic: t, partition: [0, 3-9, '12+']}, do: drop}",
    "{match: {partition: 2147483647}, do: {hold: {until: {partition: 0}}}}",
    "do: [{hold: {time: 2s}}]", "do: {hold: {control: true}}",
    "do: {reorder: {shuffle: 3, same: any}, throttle: {bytes: 1MB, messages: 3}}",
    "{when: {after: {time: 3s}, until: {rule: r, fired: 2}}, do: drop}",
    "{match: {client_id: [a*, b]}, do: drop}",
    "{match: {version: 12}, when: {skip: 1, times: 2, probability: 0, scope: rule}, do: drop}",
    "{where: \"group_id == 'a'\", do: {reorder: {swap: 3, restore: false}}}",
])  # fmt: skip
def test_what_loads_is_accepted(rule: str) -> None:
    inner = rule if rule.startswith("{") else f"{{{rule}}}"
    assert accepts(f"version: 1\nrules: [{{name: r, {inner[1:-1]}}}]")


@pytest.mark.parametrize("text", [
    "[]", "version: 2\nrules: []", "version: 1", "version: 1\nrules: [{name: r}]",
    "version: 1\nrules: [{name: r, do: delay}]", "version: 1\nrules: [{name: r, do: []}]",
    "version: 1\nrules: [{name: r, do: {}}]", "version: 1\nrules: [{name: r, do: {delai: 1s}}]",
    "version: 1\nrules: [{name: r, do: {delay: 2 parsecs}}]",
    "version: 1\nrules: [{name: r, do: {hold: {time: 1s, messages: 3}}}]",
    "version: 1\nrules: [{name: r, do: {reorder: {swap: 1, same: broker}}}]",
    "version: 1\nrules: [{name: r, do: [hold, reorder]}]",
    "version: 1\nrules: [{name: r, do: close, when: {after: {}}}]",
    "version: 1\nrules: [{name: r, do: close, match: {api: Fetsh}}]",
    "version: 1\nrules: [{name: r, do: close, match: {api: 99}}]",
    "version: 1\nrules: [{name: r, do: close, when: {times: 0}}]",
    "version: 1\nrules: [{name: r, do: close, whre: a}]",
])  # fmt: skip
def test_what_is_wrong_is_refused(text: str) -> None:
    assert not accepts(text)


def test_every_place_has_the_keys_of_its_model_each_with_what_it_is() -> None:
    places = completion()["places"]
    assert list(places["Match"]) == list(Match.model_fields)
    for name, model, *_ in FAULTS:
        assert list(places[places["do"][name]["of"]]) == list(model.model_fields)
    assert all(key["about"] for place in places.values() for key in place.values())


def test_values_are_names_once_as_kafka_writes_them() -> None:
    places = completion()["places"]
    found = places["Match"]["api"]["values"]
    assert set(NAMES.values()) <= set(found)
    assert len({name.lower() for name in found}) == len(found)
    assert places["Match"]["error"]["values"] == [error.name for error in ERROR_CODES]
    assert places["Respond"]["error"]["values"] == [error.name for error in ERROR_CODES]
    assert places["Scenario"]["dialect"]["values"] == list(names())
    assert places["Match"]["direction"]["values"] == ["request", "response"]
    assert places["Drop"]["selective"]["values"] == [True, False]
    assert "close" in places["RuleConfig"]["do"]["values"]
    assert "delay" not in places["RuleConfig"]["do"]["values"]
