"""A value that no message can hold is an error with its line; one that some version holds is fine."""

from __future__ import annotations

import json
from typing import Any

import pytest

from barnabas.proxy.scenario.file import Scenario, examine

TELEMETRY = {"api": "GetTelemetrySubscriptions", "direction": "response"}


def problems(match: dict[str, Any], do: Any) -> list[tuple[int, str]]:
    """Return the problems of one rule."""
    rule = json.dumps({"name": "r", "match": match, "do": do})
    found = examine(f"version: 1\nrules:\n- {rule}")
    return [] if isinstance(found, Scenario) else found


CASE = """version: 1
rules:
- name: null where no version allows it
  match:
    api: GetTelemetrySubscriptions
    direction: response
  do:
    edit:
      set:
        accepted_compression_types: null
- name: text into an int32
  match: {api: GetTelemetrySubscriptions, direction: response}
  do:
  - edit:
      set:
        push_interval_ms: 1000
        throttle_time_ms: soon
"""
CAN_NOT = "edit: no message that the rule matches can hold it: "


def test_the_line_is_that_of_the_value() -> None:
    soon = "throttle_time_ms: 'soon' is not a valid int32: required argument is not an integer"
    assert examine(CASE) == [
        (10, f"{CAN_NOT}accepted_compression_types: null is not allowed in this version"),
        (17, f"{CAN_NOT}{soon}"),
    ]


@pytest.mark.parametrize(("match", "do"), [
    (TELEMETRY, {"edit": {"set": {"push_interval_ms": 1 << 31}}}),
    (TELEMETRY, {"edit": {"set": {"push_interval_ms": None}}}),
    (TELEMETRY, {"edit": {"set": {"client_instance_id": "short"}}}),
    (TELEMETRY, {"edit": {"set": {"requested_metrics[*]": 7}}}),
    (TELEMETRY, {"edit": {"append": {"requested_metrics": None}}}),
    (TELEMETRY, {"edit": {"set": {"error_code": "NO_SUCH_ERROR"}}}),
    ({"api": "Fetch"}, {"edit": {"set": {"max_bytes": "many"}}}),
    ({"direction": "response"}, {"edit": {"set": {"throttle_time_ms": "soon"}}}),
    ({"api": "Heartbeat"}, {"respond": {"set": {"throttle_time_ms": "soon"}}}),
    ({"api": "Heartbeat"}, {"respond": {"body": {"error_code": None}}}),
    ({"api": "Heartbeat"}, {"respond": {"set": {"throtle_time_ms": 3}}}),
    ({"api": "Heartbeat"}, {"replace": {"body": {"generation_id": "one"}}}),
    ({"api": "Metadata"}, {"replace": {"body": {"topics": [{"name": 7}]}}}),
    ({}, {"inject": {"api": "Heartbeat", "version": 4, "body": {"generation_id": "one"}}}),
    # null is allowed from v1 on, and the rule is about v0
    ({"api": "Metadata", "direction": "request", "version": 0}, {"edit": {"set": {"topics": None}}}),
    ({"api": "Metadata"}, [{"delay": "1ms"}, {"edit": {"set": {"topics[0].name": 1}}}]),
])  # fmt: skip
def test_what_no_message_can_hold_is_an_error(match: dict[str, Any], do: Any) -> None:
    [(line, text)] = problems(match, do)
    assert line == 3
    assert "no message that the rule matches can hold it: " in text


@pytest.mark.parametrize(("match", "do"), [
    (TELEMETRY, {"edit": {"set": {"error_code": "INVALID_REQUEST", "push_interval_ms": 0}}}),
    (TELEMETRY, {"edit": {"set": {"accepted_compression_types": [1, 2]}}}),
    (TELEMETRY, {"edit": {"set": {"client_instance_id": "AAAAAAAAAAAAAAAAAAAAAQ"}}}),
    # v0 has no null, later versions do
    ({"api": "Metadata", "direction": "request"}, {"edit": {"set": {"topics": None}}}),
    # the response has such a field, the request has not
    ({"api": "Metadata"}, {"edit": {"set": {"throttle_time_ms": 1}}}),
    ({"api": "Produce"}, {"edit": {"set": {"topic_data[*].partition_data[0].records": "AAAA"}}}),
    ({"api": "Metadata"}, {"edit": {"append": {"topics": {"name": "orders"}}}}),
    ({"api": "Metadata", "direction": "response"},
     {"replace": {"body": {"topics": [{"error_code": "topic_authorization_failed"}]}}}),
    ({"api": "Heartbeat"}, {"respond": {"body": {"error_code": "REBALANCE_IN_PROGRESS"}}}),
    ({}, {"inject": {"api": "Heartbeat", "version": 4, "direction": "request"}}),
    ({}, {"replace": {"hex": "0001"}}),
    ({}, {"respond": {"body": {}}}),
])  # fmt: skip
def test_what_some_message_can_hold_is_fine(match: dict[str, Any], do: Any) -> None:
    assert problems(match, do) == []
