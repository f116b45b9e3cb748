"""Test the two times of messages for each fault, live and from its capture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.captures.kafka.notes import INFERRED, WAITS
from barnabas.captures.summary.sequence import MADE, ONE_SIDE, messages, numbered, sequence
from barnabas.captures.writing.masking import Masking
from tests.captures.summary.views import sample
from tests.proxy.frames import heartbeat_request, heartbeat_response
from tests.proxy.playbook import MS, START, Stage
from tests.proxy.test_masked_capture import Recorded

Seen = dict[tuple[str, int], tuple[Any, Any]]
Run = Callable[..., Recorded]

ASKED = "request"
REQUESTS = "{api: Heartbeat, direction: request}"
TOLD = "response"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def make(do: str, match: str = REQUESTS) -> Recorded:
        text = f"version: 1\nrules:\n- {{name: r, match: {match}, when: {{times: 1}}, do: {do}}}\n"
        return Recorded(Stage(text), tmp_path / "run.pcapng", Masking())

    return make


def shown(exchanges: Iterable[Exchange], **asked: Any) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = sequence(enumerate(exchanges), **asked)["messages"]
    return result


def ms(time: str | None) -> float | None:
    return None if time is None else (int(time) - START) / MS


def seen(actor: Recorded) -> Seen:
    """Return when each message arrived and left, or why a time is missing.

    The keys are direction and correlation id.
    """
    actor.finish()
    live, captured = shown(actor.done), shown(actor.decoded())
    for one in (*live, *captured):
        assert int(one.pop("ended")) >= int(one["began"])  # when, is noted in captures only
    assert live == captured
    return {
        (one["direction"], one["correlation_id"]): tuple(  # type: ignore[misc]
            one["reason"] if one[time] is None else ms(one[time]) for time in ("arrived", "left")
        )
        for one in live
    }


def played(actor: Recorded, steps: str) -> Seen:
    """Return the result of steps: messages by their numbers, and ms that pass."""
    for step in steps.split(", "):
        what, _, said = step.partition(" ")
        if what == "wait":
            actor.stage.wait(int(said))
        elif what == "ask":
            actor.ask(b"".join(heartbeat_request(int(number)) for number in said.split("+")))
        else:
            actor.answer(b"".join(heartbeat_response(int(number)) for number in said.split("+")))
    return seen(actor)


PIPELINED = "ask 1, wait 10, ask 2, wait 10, answer 1, wait 10, answer 2, wait 10"
LATE = "ask 1, wait 40, answer 1, wait 40"
CUT = "response not forwarded: a rule closed the connection"
PLAYS: dict[str, tuple[str, str, str, Seen]] = {
    "what passes, before the first one is answered": (
        *("close", "{api: Metadata}", PIPELINED),
        {(ASKED, 1): (0, 0), (ASKED, 2): (10, 10), (TOLD, 1): (20, 20), (TOLD, 2): (30, 30)},
    ),
    "a request that is delayed": (
        *("{delay: 30ms}", "{api: Heartbeat, direction: request}", LATE),
        {(ASKED, 1): (0, 30), (TOLD, 1): (40, 40)},
    ),
    "a response that is delayed": (
        *("{delay: 30ms}", "{api: Heartbeat, direction: response}", LATE),
        {(ASKED, 1): (0, 0), (TOLD, 1): (40, 70)},
    ),
    "a held message that others overtake": (
        *("{hold: {messages: 1}}", REQUESTS, "ask 1, wait 5, ask 2, answer 2+1"),
        {(ASKED, 1): (0, 5), (ASKED, 2): (5, 5), (TOLD, 1): (5, 5), (TOLD, 2): (5, 5)},
    ),
    "responses that are put back into order": (
        *("{reorder: {swap: 1}}", REQUESTS),
        "ask 1, wait 1, ask 2, wait 1, answer 2, wait 1, answer 1, wait 1",
        {(ASKED, 1): (0, 1), (ASKED, 2): (1, 1), (TOLD, 2): (2, 3), (TOLD, 1): (3, 3)},
    ),
    "a message still held at the end did not leave": (
        *("{hold: {time: 1s}}", REQUESTS, "ask 1, wait 5"),
        {(ASKED, 1): (0, "request not forwarded: connection closed")},
    ),
    "what is dropped arrives only": (
        *("{drop: {selective: true}}", REQUESTS, "ask 1+2, answer 2"),
        {(ASKED, 1): (0, "request dropped by a rule"), (ASKED, 2): (0, 0), (TOLD, 2): (0, 0)},
    ),
    "a lost reply comes from the broker and ends there": (
        *("lose_reply", REQUESTS, "ask 1+2, wait 7, answer 1"),
        {(ASKED, 1): (0, 0), (ASKED, 2): (0, 0), (TOLD, 1): (7, CUT)},
    ),
    "an answer of the proxy has no arrival": (
        *("{respond: {error: NOT_COORDINATOR}}", REQUESTS, "ask 1"),
        {(ASKED, 1): (0, "answered by the proxy"), (TOLD, 1): (MADE, 0)},
    ),
}


@pytest.mark.parametrize(("do", "match", "steps", "times"), PLAYS.values(), ids=PLAYS)
def test_when_messages_arrive_and_leave(
    run: Run, do: str, match: str, steps: str, times: Seen
) -> None:
    assert played(run(do, match), steps) == times


def test_a_row_says_who_spoke_and_which_rules_and_errors_there_were(run: Run) -> None:
    actor = run("close", "{api: Metadata}")
    played(actor, PIPELINED)
    rows = shown(actor.done)
    assert [(row["number"], row["direction"]) for row in rows] == [
        *((0, ASKED), (1, ASKED), (0, TOLD), (1, TOLD)),
    ]
    who = {(row["client"], row["broker"], row["connection"]) for row in rows}
    assert who == {("me", "broker 1", 1)}
    actor = run("{delay: 30ms}")
    played(actor, LATE)
    assert [one["rules"] for one in shown(actor.done)] == [["r"], ["r"]]
    actor = run("{respond: {error: NOT_COORDINATOR}}")
    played(actor, "ask 1")
    assert [one["error"] for one in shown(actor.done)] == [None, "NOT_COORDINATOR"]


def test_a_window_has_what_was_at_the_proxy_in_it(run: Run) -> None:
    actor = run("{delay: 30ms}")
    actor.ask(heartbeat_request(1))
    actor.stage.wait(40)
    actor.answer(heartbeat_response(1))

    def within(begin: int, end: int) -> list[str]:
        result = shown(actor.done, begin=START + begin * MS, end=START + end * MS)
        return [one["direction"] for one in result]

    assert [within(10, 20), within(30, 40), within(31, 40), within(31, 41), within(41, 50)] == [
        *([ASKED], [ASKED], [], [TOLD], [])
    ]
    assert within(0, 41) == [ASKED, TOLD]


def test_the_first_are_shown_and_the_others_counted() -> None:
    exchanges = sample("faults.pcapng")
    whole = sequence(enumerate(exchanges), begin=0)
    some = sequence(enumerate(reversed(exchanges)), begin=0, most=10)
    arrived = [(one["arrived"], one["direction"]) for one in whole["messages"]]
    assert [(one["arrived"], one["direction"]) for one in some["messages"]] == arrived[:10]
    assert some["left_out"] == len(arrived) - 10
    assert whole["left_out"] == 0


def test_what_is_not_over_is_there_as_it_stands() -> None:
    def exchange(number: int, ts: int, sent: int, note: str = "", **came: Any) -> Exchange:
        return Exchange(
            ts, 3, "a:1", None, 1, 0, 9, number, 20, note=note, sent=sent, ordinal=number, **came
        )

    held = exchange(1, 5, 0, WAITS)
    working = exchange(2, 6, 7)
    reported = exchange(3, 8, 8, WAITS, response_size=30, broker_ms=1e-6)
    over = [(4, exchange(0, 60, 60, latency_ms=1e-5, broker_ms=1e-5, response_size=9))]
    several = [*over, *numbered([held, working, reported], now=99)]
    result = sequence(several)
    assert (result["from"], result["to"], result["first"]) == ("60", "100", "5")
    rows = [(one["correlation_id"], one["direction"]) for one in result["messages"]]
    assert rows == [(1, ASKED), (3, TOLD), (0, ASKED), (0, TOLD)]  # what waits, and what came
    result = sequence(several, begin=0)
    assert [
        (one["correlation_id"], one["arrived"], one["left"], one["waits"], one["lost"])
        for one in result["messages"]
    ] == [
        (1, "5", None, True, False),
        (2, "6", "7", False, False),
        (3, "8", "8", False, False),
        (3, "9", None, True, False),
        (0, "60", "60", False, False),
        (0, "70", "70", False, False),
    ]
    assert {one["ended"] for one in result["messages"]} == {"99", "70"}
    assert len({one["number"] for one in result["messages"]}) == 4
    assert sequence(several, begin=50, end=55)["messages"][0]["waits"]


@pytest.mark.parametrize("name", ["wrong.pcap", "midway.pcap"])
def test_in_a_capture_of_one_side_nobody_knows_when_anything_left(name: str) -> None:
    rows = shown(sample(name), begin=0)
    assert {(row["left"], row["lost"], row["reason"]) for row in rows} == {(None, False, ONE_SIDE)}
    assert all(row["arrived"] for row in rows)
    assert {row["direction"] for row in rows} == {ASKED, TOLD}


def test_a_response_whose_request_is_not_known_stands_alone() -> None:
    stray = Exchange(5, 1, "a:1", None, None, STRAY, 0, 7, 0, 20, 0.0, 0.0, sent=5)
    (message,) = messages(0, stray)
    assert (message.direction, message.arrived, message.left) == (TOLD, 5, 5)
    inferred = Exchange(5, 1, "a:1", None, None, 3, 0, 7, 0, 20, note=INFERRED, sent=5)
    inferred.inferred = True
    (message,) = messages(0, inferred)
    assert (message.direction, message.arrived, message.left, message.reason) == (
        TOLD,
        5,
        None,
        INFERRED,
    )
