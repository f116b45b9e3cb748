from __future__ import annotations

import sys
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.proxy.faults.throttle import MOST, RateLimiter
from tests.proxy.faults.given import Examples, Play, Row, effect_of, message, requests, responses
from tests.proxy.playbook import Stage

EXAMPLES = Examples(
    {"bytes": "1MB"},
    rows=[Row("{messages: 1}"), Row("{bytes: 10B, per: client}")],
    live=["{messages: 2000}"],
    refused=[
        ("{}", "give bytes, messages, or both (a second)"),
        ("{bytes: 0B}", "bytes: 0 a second would never pass; use stall or blackhole"),
        ("{messages: 0}", "messages"),
    ],
    says=[
        ("{messages: 1}", "across", ""),
        ("{messages: 1, per: broker}", "across", "connections share a rate per broker"),
    ],
    plays=[
        Play("messages leave one after the other, and a line that was idle saves nothing up",
             "{messages: 10}",
             "ask 1 2 3; wait 350; at 100 200 300; sent 1 2 3; wait 650; ask 4 5; wait 250; "
             "at 100 200 300 1100 1200"),
        Play("connections share the line of their client", "{messages: 10, per: client}",
             "ask 1; two.ask 1; wait 300; at 100; two.at 200"),
        Play("or each has its own", "{messages: 10}", "ask 1; two.ask 1; wait 300; at 100; two.at 100"),
        Play("a delay in front of a line adds to it", "[{delay: 30ms}, {throttle: {messages: 10}}]",
             "ask 1 2; wait 500; at 130 230"),
        Play("a delay behind a line adds to it", "[{throttle: {messages: 10}}, {delay: 30ms}]",
             "ask 1 2; wait 500; at 130 230"),
    ],
)  # fmt: skip

TENTH = f"{(message().size + 4) * 10}B"
"""Just any message takes 100 ms of it."""


@pytest.mark.parametrize(("settings", "ms", "what"), [
    ({"bytes": TENTH}, 100, "throttle 100 ms"),
    ({"bytes": TENTH, "messages": 2}, 500, "throttle 500 ms"),  # the slower counts
    ({"bytes": TENTH, "messages": 20}, 100, "throttle 100 ms"),
    ({"messages": 1, "per": "client"}, 1000, "throttle 1 s on the line of client me"),
    ({"messages": 1, "per": "broker"}, 1000, "throttle 1 s on the line of broker 1"),
    ({"messages": 1, "per": "rule"}, 1000, "throttle 1 s on the line of rule"),
])  # fmt: skip
def test_what_just_any_message_takes_on_an_idle_line(settings: Any, ms: int, what: str) -> None:
    effect = effect_of("throttle", settings)
    assert (effect.leave(0), effect.what) == (ms * 1_000_000, what)


def two_rules(first: str, direction: str) -> Any:
    slow = f"match: {{direction: {direction}}}, do: {{throttle: {{messages: 10}}}}"
    match = "match: {direction: request}, when: {times: 1}"
    text = f"version: 1\nrules:\n- {{name: r, {match}, do: {first}}}\n- {{name: slow, {slow}}}\n"
    return Stage(text).actor()


def test_a_message_takes_the_line_when_the_rule_before_lets_it_leave() -> None:
    actor = two_rules("{delay: 300ms}", "request")
    actor.ask(requests(1, 2))
    actor.stage.wait(1000)
    assert [at for at, _ in actor.times["request"]] == [400, 500]
    what = [cut["what"] for cut in actor.cuts]
    assert what == [["delay 300 ms", "throttle 100 ms"], ["throttle 100 ms"]]


def test_a_response_that_waits_for_its_turn_takes_the_line_when_it_has_it() -> None:
    actor = two_rules("{reorder: {swap: 1}}", "response")
    actor.ask(requests(1, 2))
    actor.answer(responses(2))
    actor.stage.wait(50)
    actor.answer(responses(1))
    actor.stage.wait(500)
    assert actor.ids("response") == [1, 2]
    assert [at for at, _ in actor.times["response"]] == [150, 250]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(0, 9))))
def test_each_line_is_busy_by_itself_and_idle_time_is_not_saved_up(
    used: list[tuple[str, int, int]],
) -> None:
    limiter, busy, now = RateLimiter(), dict.fromkeys("abc", 0), 0
    for line, ns, later in used:
        now += later
        busy[line] = max(busy[line], now) + ns
        assert limiter.pace(line, ns, now) == busy[line]


def test_of_too_many_lines_the_idle_ones_go_and_then_the_one_used_least_lately(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.modules["barnabas.proxy.faults.throttle"], "MOST", 2)
    limiter = RateLimiter()
    for line, ns in (("a", 100), ("b", 10), ("c", 50)):
        limiter.pace(line, ns, 0)
    assert len(limiter) == 2
    assert limiter.pace("c", 1, 0) == 51, "a was used least lately"
    assert limiter.pace("b", 1, 0) == 11
    assert limiter.pace("a", 100, 11) == 111, "b is idle and goes, c stays"
    assert limiter.pace("c", 1, 11) == 52


def test_lines_that_are_idle_again_are_forgotten() -> None:
    limiter = RateLimiter()
    for number in range(10 * MOST):
        limiter.pace(f"client {number}", 1000, number)
    assert len(limiter) <= MOST
    assert limiter.pace(f"client {number}", 1000, number) == number + 2000


def test_so_many_long_names_on_lines_that_stay_busy_are_bounded_in_memory_and_in_work() -> None:
    limiter, name = RateLimiter(), "x" * 30_000
    tracemalloc.start()
    try:
        for number in range(2 * MOST):
            assert limiter.pace(f"{name} {number}", 10**15, number) == number + 10**15
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(limiter) == MOST
    assert kept < 5 << 20  # the names are 600 MB
    assert limiter._idle == 10**15, "nothing is idle: nobody looked for it but once"
