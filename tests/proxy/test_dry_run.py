"""A scenario over exchanges that have passed."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.values.value import Values
from barnabas.proxy.dry_run import ATTEMPTS, Tried, dry_run
from barnabas.proxy.matching.passed import NOT_KEPT
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


def tried(rule: str, *exchanges: Exchange, first: int = 0) -> Tried:
    scenario = loads(f"version: 1\nrules: [{{name: r, {rule}}}]")
    (found,) = dry_run(scenario, enumerate(exchanges, first))
    return found


def beats(count: int, **changes: Any) -> list[Exchange]:
    return [exchange(number, **changes) for number in range(count)]


def test_numbers_are_those_of_the_exchanges() -> None:
    found = tried(
        "match: {api: Heartbeat, direction: request}, when: {skip: 1, times: 2}, do: drop",
        exchange(0, "ApiVersions", 0), *beats(5), first=7,
    )  # fmt: skip
    assert (found.matched, found.fired) == (5, 2)
    assert found.matches == [8, 9, 10, 11, 12]
    assert found.fires == [9, 10]


@pytest.mark.parametrize(("do", "matched"), [("{delay: 1s}", 4), ("drop", 2), ("lose_reply", 4)])
def test_messages_are_counted_if_they_would_have_come_and_exchanges_named_once(
    do: str, matched: int
) -> None:
    found = tried(f"match: {{client_id: app}}, do: {do}", *beats(2))
    assert (found.matched, found.matches) == (matched, [0, 1])


def test_conditions_names_and_errors_are_decided_by_the_bodies() -> None:
    mine = exchange(0, request={"group_id": "orders"}, response={"error_code": 27})
    other = exchange(1, request={"group_id": "others"})
    assert tried("where: \"group_id == 'orders'\", match: {api: Heartbeat, direction: request}, "
                 "do: drop", mine, other).matches == [0]  # fmt: skip
    assert tried("match: {group: orders, direction: response}, do: drop", other, mine).matches == [
        1
    ]
    assert tried("match: {error: REBALANCE_IN_PROGRESS}, do: drop", other, mine).matches == [1]
    produce = [exchange(n, "Produce", 3, request={"acks": acks}) for n, acks in enumerate((1, -1))]
    assert tried("match: {acks: all}, do: drop", *produce).matches == [1]


def test_what_was_left_out_is_undecided_where_a_body_is_needed() -> None:
    left = exchange(0, request={"group_id": "orders"})
    left.leave_out("request")
    left.leave_out("response")
    found = tried("match: {group: orders}, do: drop", left)
    assert (found.matched, found.undecided, found.why) == (0, 2, NOT_KEPT)
    assert tried("match: {api: Heartbeat, direction: request}, do: drop", left).matched == 1


def test_a_response_that_rules_changed_is_taken_as_it_had_come() -> None:
    changed = exchange(0, response={"error_code": 27}, rules=("other",))
    changed.response_came = exchange(0).response_body
    assert tried("match: {error: REBALANCE_IN_PROGRESS}, do: drop", changed).matched == 0
    changed.rules = ()
    assert tried("match: {error: REBALANCE_IN_PROGRESS}, do: drop", changed).matched == 1


def test_time_counts_from_the_first_exchange() -> None:
    after = tried("match: {direction: request}, when: {after: {time: 2s}}, do: drop", *beats(4))
    assert after.matches == [2, 3]


def test_connections_count_by_themselves_and_in_their_order() -> None:
    some = [exchange(n, connection=1 + n % 2) for n in range(6)]
    assert tried("match: {direction: request}, when: {times: 1}, do: drop", *some).fires == [0, 1]
    assert tried("match: {direction: request, connection: 1}, do: drop", *some).matches == [1, 3, 5]


def test_pipelined_messages_are_asked_about_in_their_time() -> None:
    slow = exchange(0, latency_ms=2500.0)
    rule = "match: {direction: response}, when: {skip: 1, scope: rule}, do: drop"
    assert tried(rule, slow, *beats(3)[1:]).fires == [0, 2]


@pytest.mark.parametrize("key", [-1, -3, -(1 << 16)])
def test_tokens_are_no_messages(key: int) -> None:
    token = exchange(0)
    token.key = key
    assert tried("do: drop", token).matched == 0


def test_attempts_to_connect_are_not_there_to_be_tried() -> None:
    found = tried("do: refuse", *beats(1))
    assert (found.matched, found.why) == (0, ATTEMPTS)


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
