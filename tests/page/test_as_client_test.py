"""Tests in Go, Java and Node that are made from an exchange: their text. Other tests run them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.page.as_client_test import GO, LANGUAGES, Language, as_client_test
from barnabas.peers.replay.as_pytest import NoTest
from barnabas.proxy.scenario.file import loads
from tests.copied_tests import HOSTILE, copied_test, refused
from tests.places import SAMPLES

ONCE = {"times": 1, "scope": "rule"}


def rules_in(text: str) -> list[dict[str, Any]]:
    """Return the rules of a test."""
    return [yaml.safe_load(json.loads(rule)) for rule in re.findall(r"ule\((.+?)\);?\n", text)]


def filter_in(text: str) -> str:
    """Return the filter for which a test waits."""
    (found,) = re.findall(r"[wW]aitFor\((\".+?\")[,)]", text)
    return str(json.loads(found))


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_a_rule_with_a_hostile_name_is_repeated_to_any_client(language: Language) -> None:
    text = copied_test(language)
    assert text.isascii()
    assert text.count("\n") == language.test.template.count("\n") + 1
    assert rules_in(text) == [
        {
            "name": HOSTILE,
            "match": {"api": "Produce", "direction": "request"},
            "when": ONCE,
            "do": {"respond": {"error": "NOT_ENOUGH_REPLICAS"}},
        }
    ]
    assert filter_in(text) == "api == 'Produce' && error == 'NOT_ENOUGH_REPLICAS' && rules"
    # Go reads no surrogates, and Java reads \\u before all else, but not after another backslash
    assert re.findall(r"(?<!\\)(?:\\\\)*\\(?![\\\"])", text) == []


@pytest.mark.parametrize(
    ("error", "filtered"),
    [
        ("NOT_ENOUGH_REPLICAS", "api == 'Produce' && error == 'NOT_ENOUGH_REPLICAS' && rules"),
        ("", "api == 'Produce' && error == ''"),
        (None, "api == 'Produce'"),
    ],
)
def test_an_error_of_the_broker_becomes_a_rule(error: str | None, filtered: str) -> None:
    exchange = refused()
    exchange.rules, exchange.note = (), ""
    exchange.set_error(error)
    text = as_client_test(GO, exchange, [], {})
    rules = [
        {
            "name": error,
            "match": {"api": "Produce", "direction": "request"},
            "when": ONCE,
            "do": {"respond": {"error": error}},
        }
    ]
    assert rules_in(text) == (rules if error else [])
    assert filter_in(text) == filtered


def test_an_error_of_the_broker_is_repeated_next_to_a_rule_that_only_delayed() -> None:
    exchange = refused()
    exchange.rules, exchange.note = ("slow",), ""
    slow = "{version: 1, rules: [{name: slow, match: {direction: request}, do: {delay: 1ms}}]}"
    text = as_client_test(GO, exchange, [(0, slow)], {})
    assert [rule["name"] for rule in rules_in(text)] == ["slow", "NOT_ENOUGH_REPLICAS"]


def without_scenario(exchange: Exchange) -> None:
    exchange.set_error("")


def of_no_api(exchange: Exchange) -> None:
    exchange.key = 9999


def with_an_unknown_error(exchange: Exchange) -> None:
    exchange.set_error("ERROR_999")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (without_scenario, "no known scenario has the rules that fired on it"),
        (of_no_api, "the fixtures speak Kafka's protocol, which has no such API"),
        (with_an_unknown_error, "no rule can repeat ERROR_999: .*unknown Kafka error code"),
    ],
)
def test_what_no_rule_can_repeat_is_refused_with_the_reason(change: Any, reason: str) -> None:
    exchange = refused()
    change(exchange)
    with pytest.raises(NoTest, match=reason):
        as_client_test(GO, exchange, [], {})


@pytest.mark.parametrize("name", ["faults.pcapng", "transactions.pcapng", "sasl.pcapng"])
def test_each_exchange_of_a_sample_has_a_test_whose_rules_load(name: str) -> None:
    capture = open_capture(SAMPLES / name)
    for exchange in capture.exchanges():
        text = as_client_test(GO, exchange, capture.reader.scenarios, capture.context.topics)
        rules = rules_in(text)
        loads(json.dumps({"version": 1, "rules": rules}))
        assert len(rules) == max(len(exchange.rules), bool(exchange.error))
