from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import ScenarioError, loads

FORWARD = "{close: {forward: true}}"
RESPOND = "{respond: {error: 27}}"
SWAP = "{reorder: {swap: 1}}"
HOLD = "{hold: {time: 1s}}"
INJECT = "{inject: {api: Heartbeat, version: 0}}"
BACK = "{inject: {api: Heartbeat, version: 0, direction: response}}"
EDIT = "{edit: {set: {member_id: abc}}}"
LOST = "the message is not forwarded; leave one out"


def refused(do: str, direction: str = "request") -> list[str]:
    """Return the problems of a rule's faults, without name and line."""
    match = f"{{api: Heartbeat, direction: {direction}}}" if direction else "{api: Heartbeat}"
    found: list[str] = []
    try:
        loads(f"version: 1\nrules:\n- name: r\n  match: {match}\n  do: {do}\n")
    except ScenarioError as problem:
        found += problem.problems
    return [line.removeprefix("scenario:5: ") for line in found]


@pytest.mark.parametrize(("do", "why"), [
    (f"[{RESPOND}, {HOLD}]", "hold does nothing after respond, which ends the message: put hold first"),
    (f"[drop, {HOLD}]", "hold does nothing after drop, which ends the message: leave one out"),
    (f"[{FORWARD}, {{delay: 1s}}]",
     "delay does nothing after close, which ends the message: put delay first"),
    (f"[truncate, {EDIT}]", "edit does nothing after truncate, which ends the message: put edit first"),
    ("[close, close]", "close does nothing after close, which ends the message: leave one out"),
    ("[{delay: 1s}, drop]", f"delay does nothing beside drop: {LOST}"),
    ("[{delay: 1s}, close]", f"delay does nothing beside close: {LOST}"),
    (f"[{EDIT}, reset]", f"edit does nothing beside reset: {LOST}"),
    (f"[{INJECT}, {{drop: {{selective: true}}}}]", f"inject does nothing beside drop: {LOST}"),
    (f"[{SWAP}, blackhole]", f"reorder does nothing beside blackhole: {LOST}"),
    (f"[{HOLD}, {SWAP}]",
     "hold does nothing beside reorder: a message can wait in one way only; leave one out"),
    (f"[coalesce, {HOLD}]",
     "coalesce does nothing beside hold: a message can wait in one way only; leave one out"),
    (f"[slice, {RESPOND}]",
     "slice does nothing beside respond: a request that the proxy answers is not forwarded; "
     "leave one out"),
    (f"[duplicate, {RESPOND}]",
     "duplicate does nothing beside respond: a request that the proxy answers is not forwarded; "
     "leave one out"),
    (f"[lose_reply, {FORWARD}]",
     "lose_reply does nothing beside close: nothing is sent after it; leave one out"),
    (f"[{INJECT}, truncate]",
     "inject does nothing beside truncate: nothing is sent after a truncated message; leave one out"),
    (f"[half_close, {INJECT}]",
     "inject does nothing beside half_close: nothing is sent after it in that direction; "
     "leave one out"),
    ("[{slice: {size: 1B}}, {slice: {size: 2B}}]",
     "slice does nothing beside slice: only the last one counts; leave one out"),
])  # fmt: skip
def test_of_two_faults_one_of_which_does_nothing_the_rule_is_refused(do: str, why: str) -> None:
    assert refused(do) == [why]


@pytest.mark.parametrize("do", [
    f"[{HOLD}, {RESPOND}]", f"[{SWAP}, {RESPOND}]", f"[coalesce, {RESPOND}]",
    f"[{INJECT}, {RESPOND}]", f"[{EDIT}, {RESPOND}]", f"[{{delay: 1s}}, {RESPOND}]",
    f"[{HOLD}, {FORWARD}]", f"[duplicate, {FORWARD}]", f"[{EDIT}, truncate]", f"[slice, {HOLD}]",
    f"[half_close, {BACK}]", f"[half_close, {EDIT}, {HOLD}]", "[{stall: 1s}, drop]",
    "[{isolate: {lasts: 1s}}, close]", "[{delay: 1s}, {delay: 1s}]",
    "[{respond: {error: 27, after: true}}, {delay: 1s}, duplicate]",
    "[duplicate, {respond: {error: 27, only: {group: g}}}, {respond: {error: 15, only: {group: h}}}]",
])  # fmt: skip
def test_what_works_together_is_taken(do: str) -> None:
    assert refused(do) == []


def test_what_a_fault_is_depends_on_the_direction() -> None:
    slices = f"[slice, {RESPOND.replace('error: 27', 'set: {error_code: 27}')}]"
    assert refused(slices, "response") == []
    assert refused(slices, "")
    late = "[{delay: 1s}, lose_reply]"
    assert refused(late, "request") == []
    assert refused(late, "response") == [f"delay does nothing beside lose_reply: {LOST}"]


def test_every_clash_of_a_rule_is_said() -> None:
    assert refused("[{delay: 1s}, slice, drop]") == [
        f"delay does nothing beside drop: {LOST}",
        f"slice does nothing beside drop: {LOST}",
    ]
