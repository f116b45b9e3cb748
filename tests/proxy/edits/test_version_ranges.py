"""Narrowed ApiVersions: to given maxima, to an older release; and requests that ignore it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import UNSUPPORTED_VERSION
from barnabas.captures.reader import CaptureReader
from barnabas.loop import run
from barnabas.proxy.edits.edits import explain, narrow, unsupported_version
from barnabas.proxy.edits.version_ranges import Offer, parse_newest
from barnabas.specs import NAMES, api
from barnabas.specs.keys import API_VERSIONS
from barnabas.specs.releases import RELEASES, features, offered
from tests.proxy.playbook import (
    Actor,
    Chunks,
    Stage,
    heartbeat_request,
    heartbeat_response,
    one_rule,
    raw,
    request,
    response,
    slicings,
)
from tests.proxy.servers import SOON, echo_metadata, read_frame, running

Ranges = dict[int, tuple[int, int]]


def said(ranges: Ranges, version: int = 3, **more: Any) -> bytes:
    """The body of a broker's ApiVersions response."""
    keys = [{"api_key": k, "min_version": a, "max_version": b} for k, (a, b) in ranges.items()]
    return api("ApiVersions").response.codec(version).encode({"api_keys": keys, **more})


def heard(body: bytes, version: int = 3) -> dict[str, Any]:
    return api("ApiVersions").response.codec(version).decode(body)


def ranges(values: dict[str, Any]) -> Ranges:
    return {x["api_key"]: (x["min_version"], x["max_version"]) for x in values["api_keys"]}


def seen(broker: Ranges, offer: Offer) -> Ranges:
    """What a client sees of a broker's ranges."""
    body = said(broker)
    return ranges(heard(narrow(3, body, offer) or body))


NEW: Ranges = {0: (0, 13), 1: (4, 18), 3: (0, 13), 18: (0, 4), 68: (0, 1)}


@pytest.mark.parametrize(
    ("release", "newest", "expected"),
    [
        (None, {}, NEW),
        (None, {1: 11}, NEW | {1: (4, 11)}),
        (None, {1: 11, 0: 7}, NEW | {1: (4, 11), 0: (0, 7)}),
        (None, {1: 99}, NEW),
        (None, {1: 3}, {k: v for k, v in NEW.items() if k != 1}),  # the broker begins at 4
        ("2.8", {}, {0: (0, 9), 1: (4, 12), 3: (0, 11), 18: (0, 3)}),
        ("2.8.1", {3: 5}, {0: (0, 9), 1: (4, 12), 3: (0, 5), 18: (0, 3)}),
        ("4.0", {}, NEW | {0: (0, 12), 1: (4, 17)}),
        ("0.10.0", {}, {0: (0, 2), 3: (0, 1), 18: (0, 0)}),  # of Fetch there is none in common
    ],
)
def test_ranges_are_those_that_all_sides_have(
    release: str | None, newest: dict[int, int], expected: Ranges
) -> None:
    assert seen(NEW, Offer(release, newest)) == expected


@pytest.mark.parametrize("release", RELEASES)
def test_an_offer_is_within_what_the_release_had(release: str) -> None:
    there = offered(release)
    everything = {key: api(key).versions for key in NAMES}
    for key, (low, high) in seen(everything, Offer(release)).items():
        assert there[key][0] <= low <= high <= there[key][1]


def test_an_old_broker_is_not_made_newer() -> None:
    old = {0: (0, 2), 1: (0, 3), 3: (0, 2), 18: (0, 0)}
    assert seen(old, Offer("2.8", {1: 99})) == old


UNSTABLE = {key: api(key).versions for key in NAMES if api(key).stable < api(key).versions[1]}


def test_versions_that_no_release_has_made_final_are_offered_on_request_only() -> None:
    assert UNSTABLE  # InitProducerId v6 has been in Kafka since 4.1
    final = {key: (low, api(key).stable) for key, (low, _) in UNSTABLE.items()}
    assert seen(UNSTABLE, Offer()) == {key: one for key, one in final.items() if one[1] >= 0}
    assert seen(UNSTABLE, Offer(unstable=True)) == UNSTABLE


def test_it_is_said_at_start_whether_they_are_offered() -> None:
    assert "--unstable" in "\n".join(explain(Offer()))
    assert "--unstable" not in "\n".join(explain(Offer(unstable=True)))


SUPPORTED = [
    {"name": "metadata.version", "min_version": 7, "max_version": 30},
    {"name": "kraft.version", "min_version": 0, "max_version": 1},
    {"name": "group.version", "min_version": 0, "max_version": 1},
]
FINALIZED = [
    {"name": "metadata.version", "min_version_level": 30, "max_version_level": 30},
    {"name": "transaction.version", "min_version_level": 2, "max_version_level": 2},
]


def features_seen(offer: Offer, **more: Any) -> tuple[Any, Any]:
    """What a client sees of a broker's features: the ranges of versions, and those in force."""
    body = said(NEW, **{"supported_features": SUPPORTED, "finalized_features": FINALIZED, **more})
    values = heard(narrow(3, body, offer) or body)
    supported = {
        x["name"]: (x["min_version"], x["max_version"]) for x in values["supported_features"]
    }
    levels = {
        x["name"]: (x["min_version_level"], x["max_version_level"])
        for x in values["finalized_features"]
    }
    return supported, levels


METADATA, KRAFT, GROUP = ("metadata.version", "kraft.version", "group.version")
LATER = [{"name": METADATA, "min_version": 22, "max_version": 30}]
TRANSACTION = {"transaction.version": (2, 2)}
ALL = ({METADATA: (7, 30), KRAFT: (0, 1), GROUP: (0, 1)}, {METADATA: (30, 30)} | TRANSACTION)


@pytest.mark.parametrize(
    ("offer", "more", "expected"),
    [
        (Offer("2.8"), {}, ({}, {})),
        (Offer("3.9"), {}, ({METADATA: (7, 21), KRAFT: (0, 1)}, {METADATA: (21, 21)})),
        (Offer("3.9"), {"supported_features": LATER}, ({}, {METADATA: (21, 21)})),
        (Offer("4.3"), {}, ALL),
        (Offer(), {}, ALL),
        (Offer(newest={1: 5}), {}, ALL),
    ],
)
def test_features_that_came_later_are_not_shown(
    offer: Offer, more: dict[str, Any], expected: Any
) -> None:
    assert features_seen(offer, **more) == expected


def test_what_all_sides_have_is_no_edit() -> None:
    body = said(NEW, supported_features=SUPPORTED, finalized_features=FINALIZED)
    assert narrow(3, body, Offer()) is None
    assert narrow(0, said({18: (0, 0)}, 0), Offer("2.8")) is None


def test_features_come_with_their_releases() -> None:
    assert features("3.2") == {}
    assert features("4.0.1")["transaction.version"] == 2
    assert "share.version" not in features("4.0")
    assert features("4.4") == features("4.3")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Fetch", "'Fetch' is no API and version"),
        ("Fetch=", "'Fetch=' is no API and version"),
        ("Fetch=-1", "is no API and version"),
        ("Fetch=1=2", "is no API and version"),
        ("Fetch=1,", "'' is no API and version"),
        ("Fetsh=3", "did you mean 'Fetch'?"),
        ("999=3", "no API has key 999"),
    ],
)
def test_what_is_no_maximum(text: str, problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_newest([text])
    assert problem in str(caught.value)


@pytest.mark.parametrize("release", ["0.9", "0.9.0.1", "0.8.2", "99.0", "new", ""])
def test_a_release_without_api_versions_is_refused(release: str) -> None:
    with pytest.raises(LookupError) as caught:
        Offer(release)
    assert f"there are 0.10.0 to {RELEASES[-1]}" in str(caught.value)


# on a connection


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


def test_a_capture_of_a_refused_request_reads_back_as_it_was_shown(tmp_path: Path) -> None:
    live: list[tuple[str, int, str]] = []

    async def main() -> None:
        narrowed = Offer(newest={3: 1})
        async with running(echo_metadata, capture=tmp_path / "c.pcapng", offer=narrowed) as it:
            reader, writer = await it.connect()
            newer = request("Metadata", 2, version=9)
            writer.write(request("Metadata", 1) + newer + request("Metadata", 3))
            assert (await asyncio.wait_for(read_frame(reader), SOON))[:4] == b"\0\0\0\x01"
            assert await asyncio.wait_for(reader.read(), SOON) == b""
            writer.close()
            await it.until(lambda: not it.proxy.relays)
            live.extend((x.api, x.correlation_id, x.note) for x in it.done)

    run(main())
    found = Conversations().exchanges(CaptureReader(tmp_path / "c.pcapng"))
    assert sorted((x.api, x.correlation_id, x.note) for x in found) == sorted(live)
    assert sorted(live) == [
        ("Metadata", 1, ""),
        ("Metadata", 2, "request not forwarded: its version is not offered"),
        ("Metadata", 3, "request lost behind a dropped one"),
    ]
