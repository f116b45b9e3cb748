"""Narrowed ApiVersions on a connection, and requests that ignore them."""

from __future__ import annotations

import pytest

from barnabas.captures.kafka.exchange import UNSUPPORTED_VERSION
from barnabas.proxy.edits.edits import explain, unsupported_version
from barnabas.proxy.edits.version_ranges import Offer
from barnabas.specs import NAMES
from barnabas.specs.broker_addresses import ADDRESS_FIELDS
from barnabas.specs.keys import API_VERSIONS
from tests.proxy.edits.test_version_ranges import NEW, heard, ranges, said, seen
from tests.proxy.frames import (
    Chunks,
    heartbeat_request,
    heartbeat_response,
    raw,
    request,
    response,
    slicings,
)
from tests.proxy.playbook import Actor, Stage, one_rule


def narrowed(offer: Offer, scenario: str = "", *, observed: bool = True) -> Actor:
    stage = Stage(scenario, observed=observed)
    stage.plan.offer = offer
    return stage.actor()


def over(actor: Actor) -> bool:
    return actor.aborted


@slicings
def test_api_versions_above_the_maximum_is_answered_with_the_narrowed_range(chunks: Chunks) -> None:
    actor = narrowed(Offer("2.8"))
    actor.ask(request("ApiVersions", 7, version=4), chunks)
    assert actor.sent["request"] == request("ApiVersions", 7, version=0)
    answer = response("ApiVersions", 7, version=0, api_keys=[{"api_key": 18, "max_version": 4}])
    actor.answer(answer, chunks)
    (frame,) = actor.frames("response")
    assert frame[8:] == unsupported_version(answer[8:], Offer("2.8"))
    values = heard(frame[8:], 0)
    assert values["error_code"] == UNSUPPORTED_VERSION
    assert ranges(values) == {API_VERSIONS: (0, 3)}
    actor.ask(request("ApiVersions", 8, version=3), chunks)  # the client asks again
    actor.answer(raw(b"\0\0\0\x08" + said(NEW)), chunks)
    assert ranges(heard(actor.frames("response")[-1][8:])) == seen(NEW, Offer("2.8"))


@slicings
@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize(
    ("offer", "refused"),
    [
        (Offer(newest={1: 11}), request("Fetch", 3, version=12)),
        (Offer("2.8"), request("ConsumerGroupHeartbeat", 3, version=0)),
        (Offer("4.0"), request("Fetch", 3, version=3)),
        (Offer("2.8"), raw(b"\x03\xe7\0\0\0\0\0\x03\xff\xff")),  # API key 999
    ],
)
def test_a_version_that_is_not_offered_closes_behind_the_answers(
    chunks: Chunks, observed: bool, offer: Offer, refused: bytes
) -> None:
    actor = narrowed(offer, observed=observed)
    before = [*map(heartbeat_request, range(3))]
    actor.ask(before[0], chunks)
    actor.answer(heartbeat_response(0), chunks)
    actor.ask(before[1] + before[2] + refused + heartbeat_request(4), chunks)
    assert actor.frames("request") == before
    note = "request not forwarded: its version is not offered"
    assert {"frame": 3, "left": "never", "note": note} in actor.cuts
    actor.answer(heartbeat_response(1), chunks)
    assert not over(actor)
    actor.answer(heartbeat_response(2), chunks)
    assert actor.ids("response") == [0, 1, 2]
    assert over(actor)
    assert "is not offered; connection closed" in actor.said[-1]
    actor.close()
    notes = [exchange.note for exchange in actor.done]
    if observed:
        assert sum("its version is not offered" in note for note in notes) == 1
        assert len(notes) == 5


def test_what_a_rule_delays_still_arrives_before_the_close() -> None:
    actor = narrowed(Offer(newest={1: 11}), one_rule("{delay: 100ms}", "{direction: response}"))
    actor.ask(heartbeat_request(1) + request("Fetch", 2, version=12))
    actor.answer(heartbeat_response(1))
    actor.stage.wait(99)
    assert not over(actor)
    actor.stage.wait(1)
    assert over(actor)
    assert actor.ids("response") == [1]


@pytest.mark.parametrize("observed", [True, False])
def test_versions_on_offer_pass_untouched(observed: bool) -> None:
    actor = narrowed(Offer("2.8", {1: 11}), observed=observed)
    for number in range(3):
        asked = request("Fetch", number, version=11)
        actor.ask(asked)
        actor.answer(response("Fetch", number, version=11))
    assert actor.ids("request") == actor.ids("response") == [0, 1, 2]
    assert not over(actor)


def test_all_of_it_is_said_at_the_start() -> None:
    assert Offer().explain() == []
    lines = "\n".join(Offer("2.8", {1: 11, 0: 7}).explain())
    assert "no more than Kafka 2.8 did" in lines
    assert "at most Produce v7, Fetch v11 (--max-version)" in lines
    assert "closes its connection" in lines
    lines = "\n".join(explain(Offer()))
    assert [NAMES[key] for key in ADDRESS_FIELDS if NAMES[key] not in lines] == []
    assert "--unstable" in lines
    assert "--unstable" not in "\n".join(explain(Offer(unstable=True)))
