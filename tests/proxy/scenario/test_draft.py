"""Rules made from messages: of every message of the samples, whatever is kept of its match."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.proxy.dry_run import dry_run
from barnabas.proxy.faults import CONNECTIONS, FAULTS
from barnabas.proxy.matching.contents import is_declared
from barnabas.proxy.matching.past_message import past_message
from barnabas.proxy.scenario.draft import RuleDraft, Undraftable, draft, free_name
from barnabas.proxy.scenario.file import Scenario, examine
from barnabas.proxy.scenario.lint.notes import warnings
from barnabas.proxy.scenario.yaml_lines import dump
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.registry import NAMES, key_of
from tests.places import ROOT

SAMPLES = ROOT / "captures/samples"
ACTS = [name for name, model, *_ in FAULTS if not issubclass(model, CONNECTIONS)]
TOPICS: dict[Any, str] = {}


@cache
def exchanges(sample: str) -> tuple[Exchange, ...]:
    capture = open_capture(SAMPLES / sample)
    found = tuple(capture.learn(capture.exchanges()))
    TOPICS.update(capture.context.topics)
    return found


def every(sample: str) -> Iterator[tuple[Exchange, Direction]]:
    """Yield one message of each kind, for each client."""
    seen = set()
    for exchange in exchanges(sample):
        for direction in DIRECTIONS:
            kind = (exchange.key, exchange.version, direction, exchange.client_id, exchange.error)
            if kind not in seen and exchange.body(direction) is not None:
                seen.add(kind)
                yield exchange, direction


def drafted(
    exchange: Exchange, direction: Direction, do: str, *more: Any, **named: Any
) -> RuleDraft:
    message = past_message(exchange, direction, topics=TOPICS)
    body = exchange.row([direction])[direction]
    return draft(message, do, *more, body=body, **named)


def loaded(rule: dict[str, Any]) -> Scenario:
    found = examine(dump({"version": 1, "rules": [rule]}))
    assert isinstance(found, Scenario), found
    return found


@pytest.mark.parametrize(
    "sample",
    [
        *("kip-848.pcapng", "old-formats.pcap", "rebalance.pcap.gz", "sasl.pcapng"),
        *("transactions.pcapng", "wrong.pcap"),
    ],
)
def test_of_each_kind_of_message_a_rule_that_loads_and_matches_it(sample: str) -> None:
    chance, seen = random.Random(7), set[tuple[object, ...]]()
    for exchange, direction in every(sample):
        readable = exchange.key in NAMES and is_declared(exchange.key, exchange.version)
        do = chance.choice(ACTS)
        try:
            parts = drafted(exchange, direction, "delay").parts
        except Undraftable:
            assert not readable
            continue
        names = [part.name for part in parts]
        kind = exchange.key, exchange.version, direction, exchange.error, *names
        if kind in seen:
            continue
        seen.add(kind)
        for keep in None, [], names, chance.sample(names, chance.randint(0, len(names))):
            rule, again = drafted(exchange, direction, "delay", keep)
            assert [part[:2] for part in again] == [part[:2] for part in parts]
            assert rule.get("match", {}).keys() == {part.name for part in again if part.kept}
            scenario = loaded(rule)
            assert warnings(scenario) == []
            (tried,) = dry_run(scenario, [(3, exchange)], TOPICS)
            assert tried.matches == [3], (rule, tried)
            try:
                other = drafted(exchange, direction, do, keep).rule
            except Undraftable:
                continue
            loaded(other)


def one(sample: str = "rebalance.pcap.gz", api: str = "JoinGroup") -> Exchange:
    key = key_of(api)
    return next(each for each in exchanges(sample) if each.key == key and each.response_size)


def test_what_people_tell_messages_apart_by_is_kept_and_the_rest_can_be() -> None:
    rule, parts = drafted(one(), "request", "drop")
    assert {part.name: part.kept for part in parts} == {
        "api": True, "direction": True, "version": False, "client_id": True, "broker": False, "group": True,
    }  # fmt: skip
    assert rule["do"] == "drop"
    assert rule["name"].startswith("drop JoinGroup of ")
    assert list(rule["match"]) == ["api", "direction", "client_id", "group"]


@pytest.mark.parametrize(("do", "written"), [
    ("delay", {"delay": "200ms"}),
    ("hold", {"hold": {"control": True}}),
    ("respond", {"respond": {"error": "NOT_COORDINATOR"}}),
    *((do, do) for do in ("drop", "breakpoint", "close")),
])  # fmt: skip
def test_each_act_has_settings_that_work(do: str, written: Any) -> None:
    assert drafted(one(), "request", do).rule["do"] == written


def test_a_refusal_begins_with_one_entry_of_several() -> None:
    do = drafted(one("rebalance.pcap.gz", "OffsetCommit"), "request", "respond").rule["do"]
    assert do["respond"]["only"].keys() == {"topic", "partition"}
    described = drafted(one("kip-848.pcapng", "Metadata"), "request", "respond").rule["do"]
    assert described == {"respond": {"error": "NOT_LEADER_OR_FOLLOWER"}}


def test_a_change_begins_with_a_field_that_is_there_and_settings_may_be_ones_own() -> None:
    found = drafted(one(), "response", "edit").rule["do"]
    assert list(found["edit"]["set"]) == ["throttle_time_ms"]
    assert drafted(one(), "request", "delay", settings="3s").rule["do"] == {"delay": "3s"}


@pytest.mark.parametrize(("direction", "do", "settings", "why"), [
    ("request", "delay", "3 parsecs", "units are"),
    ("request", "edit", {"set": {"nope": 1}}, "no field 'nope'"),
    ("response", "respond", None, "respond does not apply to JoinGroup responses"),
    ("request", "refuse", None, "refuse applies to connections"),
    ("request", "delai", None, "no fault is called 'delai'; did you mean 'delay'"),
])  # fmt: skip
def test_what_can_not_be_done_is_said(
    direction: Direction, do: str, settings: Any, why: str
) -> None:
    with pytest.raises(Undraftable, match=why):
        drafted(one(), direction, do, settings=settings)


def test_secrets_are_no_fields_to_begin_with() -> None:
    exchange = one("sasl.pcapng", "SaslAuthenticate")
    with pytest.raises(Undraftable, match="no field to change"):
        drafted(exchange, "request", "edit")


def test_names_are_no_globs_and_two_rules_have_two_names() -> None:
    odd, other = (
        Exchange(one().ts, 1, "", client, None, 12, 4, 1, 40, request_body=b"")
        for client in ("a*[b]?\0\x1b\u202e: #\n'\"", "axxxb")
    )
    rule = drafted(odd, "request", "delay").rule
    matched = [dry_run(loaded(rule), [(1, each)])[0].matched for each in (odd, other)]
    assert matched == [1, 0]
    name = rule["name"]
    assert [free_name(name, names) for names in ((), [name], [name, f"{name} 2"])] == [
        name,
        f"{name} 2",
        f"{name} 3",
    ]
