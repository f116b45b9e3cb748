"""Long responses that may end with node endpoints: they pass as they come, and only their tail waits."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.proxy.rules.plan import Plan
from barnabas.specs import api
from barnabas.specs.frames import response_body
from tests.proxy.connection.test_header_walk import in_slices
from tests.proxy.frames import (
    Chunks,
    bytewise,
    heartbeat_request,
    leave_request,
    request,
    response,
    slicings,
    trailing,
    whole,
)
from tests.proxy.playbook import Actor, Stage, one_rule

FORMS = [("Produce", 10), ("Fetch", 16), ("Fetch", 18), ("ShareFetch", 1), ("ShareAcknowledge", 1)]
forms = pytest.mark.parametrize(("name", "version"), FORMS)

WHOLE = 20
"""Bytes up to which responses are whole here."""


def node(host: str, id: int = 3) -> dict[str, Any]:
    return {"node_id": id, "host": host, "port": 9092}


def asked(name: str, version: int, number: int) -> bytes:
    body: dict[str, Any] = {"acks": 1} if name == "Produce" else {}
    return request(name, number, version=version, **body)


def answer(name: str, version: int, number: int, *hosts: str) -> bytes:
    partitions = "partition_responses" if name == "Produce" else "partitions"
    topic: dict[str, Any] = {partitions: [{}, {}]}
    if name == "Produce":
        topic = {partitions: [{"record_errors": [], "error_message": "e" * 200}]}
    elif name != "ShareAcknowledge":
        topic = {partitions: [{"records": b"r" * 200}, {"records": b""}]}
    return response(
        name,
        number,
        version=version,
        responses=[topic, topic],
        node_endpoints=[node(host, 3 + turn) for turn, host in enumerate(hosts)],
    )


def endpoints(name: str, version: int, frame: bytes) -> list[tuple[str, int]]:
    body = 4 + response_body(frame[4:], api(name).key, version)
    found = api(name).response.codec(version).decode(frame[body:])["node_endpoints"]
    return [(one["host"], one["port"]) for one in found]


def exchange(actor: Actor, number: int, *hosts: str, chunks: Chunks = whole) -> bytes:
    """Play a Fetch with these node endpoints; return the response as the client gets it."""
    actor.ask(asked("Fetch", 16, number))
    actor.answer(answer("Fetch", 16, number, *hosts), chunks)
    return b"" if actor.aborted else actor.frames("response")[-1]


def streaming(limit: int = WHOLE, scenario: str = "") -> Actor:
    """Return an unobserved connection, which passes messages unread after its first exchange."""
    actor = Stage(scenario, observed=False, whole=limit).actor()
    actor.ask(heartbeat_request(0))
    actor.answer(response("Heartbeat", 0))
    return actor


@forms
@slicings
@pytest.mark.parametrize(
    ("hosts", "found"),
    [
        ([], []),
        (["reals"], [("proxy", 10_003)]),
        (["really-long"], [("proxy", 10_003)]),
        (["real"], []),
        (["reals", "real"], []),
        (["reals", "really"] * 2, [("proxy", 10_000 + n) for n in range(3, 7)]),
    ],
)
def test_addresses_at_the_end_are_replaced_in_as_many_bytes_or_left_out(
    chunks: Chunks, name: str, version: int, hosts: list[str], found: list[tuple[str, int]]
) -> None:
    actor = streaming()
    actor.ask(b"".join(asked(name, version, number) for number in (1, 2, 3)))
    frames = [answer(name, version, number, *hosts) for number in (1, 2, 3)]
    actor.answer(b"".join(frames), chunks)
    left = actor.frames("response")[1:]
    assert [endpoints(name, version, frame) for frame in left] == [found] * 3
    assert [frame[:-200] for frame in left] == [frame[:-200] for frame in frames]
    assert list(map(len, left)) == list(map(len, frames))
    assert [line.split(": ", 1)[1][:5] for line in actor.said] == ["edit:"] * (
        3 * (len(found) < len(hosts))
    )
    assert actor.counts == {"Heartbeat": 1, name: 3}
    assert actor.connection.idle


def test_a_line_says_what_is_left_out() -> None:
    actor = streaming()
    frame = exchange(actor, 1, "real", "real")
    assert actor.said == [
        "connection 1 (me@client:1): edit: 2 node endpoints left out of a response to Fetch v16: there is"
        f" no room for the proxy's addresses, since its size ({len(frame) - 4} bytes) has left already"
    ]


@forms
@slicings
def test_all_in_front_of_the_tail_leaves_as_it_comes(
    chunks: Chunks, name: str, version: int
) -> None:
    for hosts in ((), ("reals",)):
        actor = streaming()
        actor.ask(asked(name, version, 1))
        frame = answer(name, version, 1, *hosts)
        tail = len(frame) - len(answer(name, version, 1)) + (2 if name.startswith("Share") else 1)
        before = len(actor.sent["response"])
        actor.answer(frame[:-tail], chunks)
        assert actor.sent["response"][before:] == frame[:-tail]
        actor.answer(frame[-tail:-1])
        assert actor.sent["response"][before:] == frame[: -tail if hosts else -1]
        actor.answer(frame[-1:])
        assert len(actor.sent["response"][before:]) == len(frame)


@pytest.mark.parametrize(("name", "version"), FORMS[:-1])
def test_chunks_without_addresses_pass_as_one(name: str, version: int) -> None:
    actor = streaming()
    actor.ask(asked(name, version, 1) + asked(name, version, 2) * 3)
    data = answer(name, version, 2) * 3
    first = answer(name, version, 1)  # from then on it is known
    for chunk in (first, data[:50], data[50:100], data[100:-300], data[-300:]):
        before = len(actor.times["response"])
        actor.answer(chunk)
        assert [sent for _, sent in actor.times["response"][before:]] == [chunk]


@pytest.mark.parametrize("chunks", [whole, bytewise, trailing, in_slices([100])])
@pytest.mark.parametrize("limit", [0, 1])
def test_a_response_up_to_the_limit_is_whole_and_changed_in_full(
    chunks: Chunks, limit: int
) -> None:
    frame = answer("Fetch", 16, 1, "real")
    actor = streaming(len(frame) - 4 - limit)
    for _ in range(2):
        found = endpoints("Fetch", 16, exchange(actor, 1, "real", chunks=chunks))
        assert found == ([] if limit else [("proxy", 10_003)])


SLOW = one_rule("{delay: 5ms}", "{api: Fetch, direction: response}")


@pytest.mark.parametrize("chunks", [whole, bytewise, trailing, in_slices([100])])
@pytest.mark.parametrize("host", ["real", "reals", "real-host"])
def test_a_capture_shows_whole_what_left_with_another_tail(chunks: Chunks, host: str) -> None:
    actor = streaming()
    actor.stage.plan = Plan(actor.stage.rules, hides=lambda direction, key: False)
    actor.perform(actor.connection.replace(actor.stage.plan, actor.stage.now))
    for number in range(1, 4):
        frame = exchange(actor, number, host, chunks=chunks)
        comment = {"frame": number, "edits": ["addresses"]}
        assert actor.left[-1] == ("response", frame, comment)
        assert actor.cuts[-1] == comment | {"left": "changed"}
        assert len(actor.left) == number


@slicings
def test_a_capture_shows_once_what_left_as_it_came(chunks: Chunks) -> None:
    actor = streaming()
    actor.connection.state.plan = Plan(actor.stage.rules, hides=lambda direction, key: False)
    bodies: list[dict[str, Any]] = [
        {},
        {"_tags": {127: b"of a later version"}},
        {"node_endpoints": [node("proxy")]},
    ]
    for number, more in enumerate(bodies):
        actor.connection.state.resolve = lambda kind, node, host, port: (host, port)
        actor.ask(asked("Fetch", 16, number))
        frame = response("Fetch", number, version=16, **more)
        actor.answer(frame, chunks)
        assert actor.frames("response")[-1] == frame
    assert not actor.left
    assert not actor.cuts


def test_rules_that_come_while_it_passes_find_the_next_one() -> None:
    actor = streaming()
    actor.ask(asked("Fetch", 16, 1) + asked("Fetch", 16, 2))
    frame = answer("Fetch", 16, 1, "reals")
    actor.answer(frame[:100])
    actor.stage.replace(SLOW)
    actor.answer(frame[100:] + answer("Fetch", 16, 2, "real"))
    assert endpoints("Fetch", 16, actor.frames("response")[1]) == [("proxy", 10_003)]
    assert actor.ids("response") == [0, 1]
    actor.stage.wait(5)
    assert endpoints("Fetch", 16, actor.frames("response")[2]) == [("proxy", 10_003)]


@pytest.mark.parametrize("cut", range(10, len(answer("Fetch", 16, 1, "reals")), 7))
def test_nothing_comes_in_between(cut: int) -> None:
    """A reply of the proxy's own is ready while a response is on its way."""
    rule = one_rule("{respond: {error: UNKNOWN_MEMBER_ID}}", "{api: LeaveGroup}")
    actor = streaming(scenario=rule)
    frame = answer("Fetch", 16, 1, "reals")
    actor.ask(asked("Fetch", 16, 1))
    actor.answer(frame[:cut])
    actor.ask(leave_request(2))
    actor.answer(frame[cut:])
    assert actor.ids("response") == [0, 1, 2]
    assert endpoints("Fetch", 16, actor.frames("response")[1]) == [("proxy", 10_003)]
