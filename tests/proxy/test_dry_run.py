"""A scenario over exchanges that have passed."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.values.value import Values
from barnabas.proxy.dry_run import ATTEMPTS, RuleTrial, dry_run
from barnabas.proxy.matching.past_message import NOT_KEPT
from barnabas.proxy.rehearsal import Rehearsal
from barnabas.proxy.scenario.file import loads
from barnabas.specs import api
from barnabas.specs.records import Record, build
from tests.captures.values import golden_values as golden
from tests.places import ROOT

S = 1_000_000_000


def exchange(number: int, name: str = "Heartbeat", version: int = 1, **changes: Any) -> Exchange:
    """One a second, each answered after half of one."""
    found = api(name)
    body = found.request.codec(version).encode(changes.pop("request", {}))
    reply = found.response.codec(version).encode(changes.pop("response", {}))
    values = {
        "ts": number * S,
        "connection": 1,
        "client_address": "127.0.0.1:5",
        "client_id": "app",
        "broker": 1,
        "request_size": 20 + len(body),
        "response_size": 4 + len(reply),
        "latency_ms": 500.0,
        "request_body": body,
        "response_body": reply,
        **changes,
    }
    return Exchange(key=found.key, version=version, correlation_id=number, **values)


def tried(rule: str, *exchanges: Exchange) -> RuleTrial:
    scenario = loads(f"version: 1\nrules: [{{name: r, {rule}}}]")
    (found,) = dry_run(scenario, enumerate(exchanges, 7))
    return found


def beats(count: int, **changes: Any) -> list[Exchange]:
    return [exchange(number, **changes) for number in range(count)]


REQUESTS, RESPONSES = "match: {direction: request}", "match: {direction: response}"
GROUPS = [
    exchange(0, request={"group_id": "others"}),
    exchange(1, request={"group_id": "orders"}, response={"error_code": 27}),
]
TWO_CONNECTIONS = [exchange(n, connection=1 + n % 2) for n in range(6)]
PIPELINED = [exchange(0, latency_ms=2500.0), *beats(3)[1:]]
BODYLESS = exchange(0, request={"group_id": "orders"})
BODYLESS.leave_out("request")
BODYLESS.leave_out("response")
CHANGED, UNCHANGED = (
    exchange(0, response={"error_code": 27}, rules=rules) for rules in (("r",), ())
)
CHANGED.response_came = UNCHANGED.response_came = exchange(0).response_body

CASES: dict[str, tuple[str, list[Exchange], dict[str, Any]]] = {
    "numbers are those of the exchanges": (
        "match: {api: Heartbeat, direction: request}, when: {skip: 1, times: 2}, do: drop",
        [exchange(0, "ApiVersions", 0), *(exchange(n) for n in range(1, 6))],
        {"matched": 5, "fired": 2, "matches": [8, 9, 10, 11, 12], "fires": [9, 10]},
    ),
    "requests and responses": ("do: {delay: 1s}", beats(2), {"matched": 4, "matches": [7, 8]}),
    "no answer to what is dropped": ("do: drop", beats(2), {"matched": 2, "matches": [7, 8]}),
    "an answer that is lost comes": ("do: lose_reply", beats(2), {"matched": 4, "matches": [7, 8]}),
    "conditions": (
        "where: \"group_id == 'orders'\", match: {api: Heartbeat, direction: request}, do: drop",
        GROUPS, {"matches": [8]},
    ),
    "errors": ("match: {error: REBALANCE_IN_PROGRESS}, do: drop", GROUPS, {"matches": [8]}),
    "what was left out is undecided": (
        "match: {group: orders}, do: drop", [BODYLESS], {"matched": 0, "undecided": 2, "why": NOT_KEPT},
    ),
    "a response that rules changed is taken as it had come": (
        "match: {error: REBALANCE_IN_PROGRESS}, do: drop", [CHANGED], {"matched": 0},
    ),
    "one that they did not is as it is": (
        "match: {error: REBALANCE_IN_PROGRESS}, do: drop", [UNCHANGED], {"matched": 1},
    ),
    "time counts from the first exchange": (
        f"{REQUESTS}, when: {{after: {{time: 2s}}}}, do: drop", beats(4), {"matches": [9, 10]},
    ),
    "connections count by themselves": (
        f"{REQUESTS}, when: {{times: 1}}, do: drop", TWO_CONNECTIONS, {"fires": [7, 8]},
    ),
    "and in their order": (
        "match: {direction: request, connection: 1}, do: drop", TWO_CONNECTIONS, {"matches": [8, 10, 12]},
    ),
    "pipelined messages are asked about in their time": (
        f"{RESPONSES}, when: {{skip: 1, scope: rule}}, do: drop", PIPELINED, {"fires": [7, 9]},
    ),
    "attempts to connect are not there": ("do: refuse", beats(1), {"matched": 0, "why": ATTEMPTS}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_rule_over_exchanges(case: str) -> None:
    rule, exchanges, expected = CASES[case]
    found = tried(rule, *exchanges)
    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize("key", [-1, -3, -(1 << 16)])
def test_tokens_are_no_messages(key: int) -> None:
    token = exchange(0)
    token.key = key
    assert tried("do: drop", token).matched == 0


def test_records_are_read_by_the_schemas_that_are_given() -> None:
    sets = build([Record(0, 1, None, golden.VALUES["avro"].data)])
    topics = [{"name": "t", "partition_data": [{"index": 0, "records": sets}]}]
    one = exchange(0, "Produce", 7, request={"topic_data": topics})
    rule = "{name: r, match: {direction: request}, record: value.order_id == 17, do: drop}"
    scenario = loads(f"version: 1\nrules: [{rule}]")
    assert [each.fired for each in dry_run(scenario, [(0, one)], None, Values(golden.lookup))] == [
        1
    ]
    (found,) = dry_run(scenario, [(0, one)])
    assert (found.fired, found.why) == (0, "schema 2: no schemas are given")


@pytest.mark.parametrize("sample", ["transactions.pcapng", "embedded.pcapng"])
@pytest.mark.parametrize(
    "rule",
    [
        "match: {direction: request, api: [Fetch, Metadata, Produce]}, do: {delay: 1ms}",
        "match: {direction: response}, when: {every: 3}, do: {delay: 1ms}",
        "match: {topic: '*', direction: request}, when: {probability: 0.5}, do: {delay: 1ms}",
    ],
)
def test_it_counts_as_a_rehearsal_of_the_capture_does(sample: str, rule: str) -> None:
    scenario = loads(f"version: 1\nrules: [{{name: r, {rule}}}]")
    capture = open_capture(ROOT / "captures/samples" / sample)
    exchanges = list(enumerate(capture.learn(capture.exchanges())))
    (found,) = dry_run(scenario, exchanges, capture.context.topics)
    rehearsal = Rehearsal(scenario)
    for _ in rehearsal.run(open_capture(ROOT / "captures/samples" / sample).events()):
        pass
    (rule_,) = rehearsal.rules.rules
    assert (found.matched, found.fired) == (rule_.matched, rule_.fired)
