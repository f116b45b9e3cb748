"""What rules did to some messages, as a scenario that does it again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.proxy.excerpt import Source, excerpt
from barnabas.proxy.faults import CONNECTIONS
from barnabas.proxy.rehearsal import Rehearsal
from barnabas.proxy.scenario.file import Scenario, loads
from tests.places import ROOT, SAMPLES

FAULTS = SAMPLES / "faults.pcapng"
READY = sorted((ROOT / "experiments/scenarios").glob("*.yaml"))
METADATA, HEARTBEAT = 3, 12


def seen(*rules: str, ts: int = 0, key: int = METADATA, client: str | None = "me") -> Exchange:
    return Exchange(
        ts, 1, "", client, 1, key, 0, 0, 20, 20, 1.0, rules=rules, response_body=bytes(8)
    )


def scenario(rules: str) -> list[Source]:
    return [(0, f"version: 1\nseed: 5\nrules:\n{rules}")]


def made(exchanges: list[Exchange], sources: list[Source]) -> Scenario:
    return loads(excerpt(exchanges, sources, {}).text)


def test_over_the_same_capture_it_decides_the_same() -> None:
    capture = open_capture(FAULTS)
    exchanges = list(capture.learn(capture.exchanges()))
    found = made(exchanges, capture.reader.scenarios)
    assert found.seed == 7
    began = capture.reader.meta["began"]
    rehearsed = list(Rehearsal(found, began).run(CaptureReader(FAULTS)))
    fired = [(each.frame.correlation_id, each.decision) for each in rehearsed if each.decision[0]]
    recorded = [
        (each.frame.correlation_id, each.recorded) for each in rehearsed if each.recorded[0]
    ]
    assert sorted(fired) == sorted(recorded) != []


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_of_any_rule_of_a_ready_scenario_it_loads(path: Path) -> None:
    text = path.read_text()
    for rule in loads(text).rules:
        key, _, version = next(iter(rule.match.kinds()))
        exchange = replace(seen(rule.name, key=key), version=version)
        (again,) = (one for one in made([exchange], [(0, text)]).rules if one.name == rule.name)
        if not any(isinstance(fault.config, CONNECTIONS) for fault in rule.do):
            assert again.match.api == frozenset((key,))


def test_it_fires_as_often_as_it_did_behind_as_many_as_passed() -> None:
    sources = scenario("- {name: slow, match: {direction: request}, do: {delay: 1ms}}")
    exchanges = [seen(*rules, ts=ts) for ts, rules in enumerate([(), ("slow",), ("slow",), ()])]
    (rule,) = made(exchanges, sources).rules
    assert (rule.when.skip, rule.when.times, rule.when.scope) == (1, 2, "rule")
    assert rule.match.client_id == ("me",)
    (rule,) = made(exchanges[1:2], sources).rules
    assert (rule.when.skip, rule.when.times) == (0, 1)


def test_where_the_messages_do_not_tell_when_is_as_it_was() -> None:
    rule = "- {name: slow, match: {api: Metadata%s}, when: {probability: 0.5}, do: {delay: 1ms}}"
    turns = [("slow",), (), ("slow",)]
    exchanges = [seen(*rules, ts=ts) for ts, rules in enumerate(turns)]
    (found,) = made(exchanges, scenario(rule % ", direction: request")).rules
    assert (found.when.probability, found.when.times) == (0.5, None)
    (found,) = made(exchanges[:1], scenario(rule % "")).rules  # on request or response?
    assert (found.when.probability, found.when.times) == (0.5, None)
    (found,) = made(exchanges[:1], scenario(rule % ", direction: request, connection: 0")).rules
    assert found.when.times is None


def test_clients_are_named_literally_and_only_where_all_have_names() -> None:
    sources = scenario("- {name: slow, do: {delay: 1ms}}")
    (rule,) = made([seen("slow", client="a*[b]\n")], sources).rules
    assert rule.match.client_id == ("a[*][[]b]\n",)
    (rule,) = made([seen("slow"), seen("slow", client=None)], sources).rules
    assert rule.match.client_id is None
    (rule,) = made([seen("slow"), seen("slow", key=HEARTBEAT)], sources).rules
    assert rule.match.api == frozenset((METADATA, HEARTBEAT))


def test_what_the_body_says_counts() -> None:
    text = "- {name: odd, match: {api: Metadata, direction: request}, where: 'topics == null', do: drop}"
    exchanges = [
        replace(seen(ts=0), version=1, request_body=bytes(4)),
        replace(seen("odd", ts=1), version=1, request_body=b"\xff" * 4),
    ]
    (rule,) = made(exchanges, scenario(text)).rules
    assert (rule.when.skip, rule.when.times) == (0, 1)
    exchanges[1].leave_out("request")
    (rule,) = made(exchanges, scenario(text)).rules
    assert rule.when.times is None


def test_a_rule_that_another_waits_for_is_there() -> None:
    sources = scenario(
        "- {name: first, do: {delay: 1ms}}\n"
        "- {name: then, match: {direction: request, api: Metadata, connection: 0},"
        " when: {after: {rule: first}}, do: drop}"
    )
    assert [rule.name for rule in made([seen("then")], sources).rules] == ["first", "then"]


def test_rules_of_scenarios_that_followed_each_other() -> None:
    texts = ["{delay: 1ms}", "{delay: 2ms}", "{delay: 2ms}"]
    sources = [(at, scenario(f"- {{name: slow, do: {do}}}")[0][1]) for at, do in enumerate(texts)]
    exchanges = [seen("slow", ts=at) for at in range(3)]
    assert [rule.name for rule in made(exchanges, sources).rules] == ["slow", "slow (2)"]


def test_what_it_lacks_is_said() -> None:
    text, left_out = excerpt([seen("gone\n"), seen()], [(0, "rules: nonsense")], {})
    assert left_out == ("gone\n",)
    assert "# No rule fired on 1 of them.\n" in text
    assert "# Left out, because no known scenario has it: 'gone\ufffd'.\n" in text
    assert loads(text).rules == ()
