from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from barnabas.proxy.effects import Schedule
from barnabas.proxy.faults.throttle import MOST, RateLimiter, Throttle, throttle
from tests.proxy.faults.given import Examples, Row, ask, beat, message, slicings, stage
from tests.proxy.playbook import Chunks, Stage

EXAMPLES = Examples(
    {"bytes": "1MB"},
    rows=[Row("{messages: 1}"), Row("{bytes: 10B, per: client}")],
    live=["{messages: 2000}"],
)


def paced(config: Throttle) -> tuple[int, str]:
    """How long just any message takes on an idle line, and the words."""
    (effect,) = throttle(config, message(), float, RateLimiter())
    assert isinstance(effect, Schedule)
    return effect.leave(0), effect.what


def test_the_slower_of_bytes_and_messages_counts() -> None:
    size = message().size + 4
    config = Throttle.model_validate({"bytes": f"{size * 10}B"})
    assert paced(config) == (100_000_000, "throttle 100 ms")
    config = Throttle.model_validate({"bytes": f"{size * 10}B", "messages": 2})
    assert paced(config) == (500_000_000, "throttle 500 ms")


@pytest.mark.parametrize(
    ("per", "scope"), [("client", "client me"), ("broker", "broker 1"), ("rule", "rule")]
)
def test_a_line_may_be_shared(per: str, scope: str) -> None:
    config = Throttle.model_validate({"messages": 1, "per": per})
    assert paced(config) == (1_000_000_000, f"throttle 1 s on the line of {scope}")


@pytest.mark.parametrize("wrong", [{}, {"bytes": "0B"}, {"messages": 0}])
def test_a_rate_of_nothing_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Throttle.model_validate(wrong)


@slicings
def test_messages_leave_one_after_the_other(chunks: Chunks) -> None:
    actor = stage("{throttle: {messages: 10}}")
    actor.ask(ask(1) + ask(2) + ask(3), chunks)
    actor.stage.wait(350)
    assert [at for at, _ in actor.times["request"]] == [100, 200, 300]
    assert actor.sent["request"] == ask(1) + ask(2) + ask(3)
    actor.stage.wait(650)  # a line that was idle saves nothing up
    actor.ask(ask(4) + ask(5), chunks)
    actor.stage.wait(250)
    assert [at for at, _ in actor.times["request"]][3:] == [1100, 1200]


def test_connections_share_the_line_of_their_client() -> None:
    for per, expected in (("client", [100, 200]), ("connection", [100, 100])):
        text = f"version: 1\nrules: [{{name: r, do: {{throttle: {{messages: 10, per: {per}}}}}}}]"
        shared = Stage(text)
        one, two = shared.actor(), shared.actor()
        one.ask(ask(1))
        two.ask(ask(2))
        shared.wait(300)
        assert [at for actor in (one, two) for at, _ in actor.times["request"]] == expected


@slicings
@pytest.mark.parametrize("do", ["[{delay: 30ms}, SLOW]", "[SLOW, {delay: 30ms}]"])
def test_a_delay_in_front_of_a_line_or_behind_it_adds_to_it(do: str, chunks: Chunks) -> None:
    actor = stage(do.replace("SLOW", "{throttle: {messages: 10}}"))
    actor.ask(ask(1) + ask(2), chunks)
    actor.stage.wait(500)
    assert [at for at, _ in actor.times["request"]] == [130, 230]


def test_a_message_takes_the_line_when_the_rule_before_lets_it_leave() -> None:
    actor = Stage(
        "version: 1\nrules:\n"
        "- {name: late, when: {times: 1}, do: {delay: 300ms}}\n"
        "- {name: slow, do: {throttle: {messages: 10}}}\n"
    ).actor()
    actor.ask(ask(1) + ask(2))
    actor.stage.wait(1000)
    assert [at for at, _ in actor.times["request"]] == [400, 500]
    assert [cut["what"] for cut in actor.cuts] == [
        ["delay 300 ms", "throttle 100 ms"],
        ["throttle 100 ms"],
    ]


def test_a_response_that_waits_for_its_turn_takes_the_line_when_it_has_it() -> None:
    actor = Stage(
        "version: 1\nrules:\n"
        "- {name: swap, match: {direction: request}, when: {times: 1}, do: {reorder: {swap: 1}}}\n"
        "- {name: slow, match: {direction: response}, do: {throttle: {messages: 10}}}\n"
    ).actor()
    actor.ask(ask(1) + ask(2))
    actor.answer(beat(2))
    actor.stage.wait(50)
    actor.answer(beat(1))
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
