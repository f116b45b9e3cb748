"""What goes wrong between a client and a broker, 5, 6 and 12: versions, addresses, odd layouts.

Elsewhere already: every version of every response with addresses (tests/proxy/edits/test_edits.py) and that
no declaration has one that is not listed (tests/specs/test_addresses.py); versions narrowed by option
(tests/proxy/edits/test_version_ranges.py).
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

from barnabas.proxy.edits.version_ranges import Offer
from barnabas.specs import api
from tests.proxy.playbook import (
    Actor,
    Chunks,
    Stage,
    raw,
    request,
    response,
    slicings,
)

NEWEST_API_VERSIONS = Offer().newest_api_versions


REAL = {"node_id": 3, "host": "real", "port": 9092}
PROXY = {"node_id": 3, "host": "proxy", "port": 10_003}


def over(actor: Actor) -> bool:
    return actor.aborted


def exchange(actor: Actor, asked: bytes, answer: bytes, chunks: Chunks) -> bytes:
    """What the client gets for this answer."""
    actor.ask(asked, chunks)
    actor.answer(answer, chunks)
    return actor.frames("response")[-1]


def offered(actor: Actor, entries: list[tuple[int, int, int]], chunks: Chunks) -> dict[int, Any]:
    keys = [{"api_key": key, "min_version": low, "max_version": high} for key, low, high in entries]
    frame = exchange(
        actor,
        request("ApiVersions", 1, version=0),
        response("ApiVersions", 1, version=0, api_keys=keys),
        chunks,
    )
    found = api("ApiVersions").response.codec(0).decode(frame[8:])["api_keys"]
    return {x["api_key"]: (x["min_version"], x["max_version"]) for x in found}


# 5: ApiVersions


@slicings
def test_05_ranges_are_intersected_and_unknown_keys_removed(chunks: Chunks) -> None:
    entries = [(5, 1, 99), (3, 0, 5), (8, 50, 60), (500, 0, 3)]
    assert offered(Stage().actor(), entries, chunks) == {5: (1, 4), 3: (0, 5)}


@slicings
def test_05_versions_with_the_quorums_addresses_are_offered(chunks: Chunks) -> None:
    entries = [(key, *api(key).versions) for key in (52, 53, 54, 55, 59, 82)]
    found = offered(Stage().actor(), entries, chunks)
    assert found == {key: (low, high) for key, low, high in entries}


@slicings
def test_05_the_minimum_of_produce_stays_0(chunks: Chunks) -> None:
    assert offered(Stage().actor(), [(0, 0, 12)], chunks) == {0: (0, 12)}


@slicings
@pytest.mark.parametrize("version", [NEWEST_API_VERSIONS + 1, 77, 32767])
@pytest.mark.parametrize("broker", [0, 4, 99])
def test_05_above_our_maximum_the_answer_is_error_35_in_v0(
    chunks: Chunks, version: int, broker: int
) -> None:
    """Only the fixed header can be read; the response header is v0 too. The range is the broker's own, or
    what of it is known here."""
    actor = Stage().actor()
    newer = raw(struct.pack(">hhih", 18, version, 7, 2) + b"me" + b"\xff" * 9)
    actor.ask(newer, chunks)
    assert actor.sent["request"] == request("ApiVersions", 7, version=0)
    keys = [{"api_key": key, "min_version": 0, "max_version": broker} for key in (3, 18)]
    actor.answer(response("ApiVersions", 7, version=0, api_keys=keys), chunks)
    newest = min(broker, NEWEST_API_VERSIONS)
    assert actor.sent["response"] == raw(struct.pack(">ihihhh", 7, 35, 1, 18, 0, newest))
    assert actor.done[0].error == "UNSUPPORTED_VERSION"
    assert actor.stage.totals.undecoded == 0
    assert actor.said == []


@slicings
@pytest.mark.parametrize("version", range(NEWEST_API_VERSIONS + 1))
def test_05_the_header_of_its_response_is_always_v0(chunks: Chunks, version: int) -> None:
    actor = Stage().actor()
    keys = [{"api_key": 18, "min_version": 0, "max_version": 3}]
    answer = response("ApiVersions", 9, version=version, api_keys=keys)
    assert answer[4:10] == b"\0\0\0\x09\0\0"  # id, error; no tags between
    assert exchange(actor, request("ApiVersions", 9, version=version), answer, chunks) == answer
    assert actor.stage.totals.undecoded == 0


# 6: addresses


@slicings
def test_06_a_controller_is_not_the_broker_of_its_id(chunks: Chunks) -> None:
    """DescribeCluster v1 with endpoint_type 2 lists controllers (KIP-919)."""
    for kind, port in ((1, 10_003), (2, 11_003)):
        actor = Stage().actor()
        brokers = [{"broker_id": 3, "host": "real", "port": 9093}]
        frame = exchange(
            actor,
            request("DescribeCluster", 1, version=1, endpoint_type=kind),
            response("DescribeCluster", 1, version=1, endpoint_type=kind, brokers=brokers),
            chunks,
        )
        found = api("DescribeCluster").response.codec(1).decode(frame[9:])["brokers"]
        assert [(x["host"], x["port"]) for x in found] == [("proxy", port)]


@slicings
def test_06_nodes_without_an_address_stay(chunks: Chunks) -> None:
    nobody = [{"node_id": -1, "host": "", "port": -1}, {"node_id": 2, "host": "", "port": -1}]
    answer = response("Metadata", 1, brokers=nobody)
    assert exchange(Stage().actor(), request("Metadata", 1), answer, chunks) == answer


@slicings
@pytest.mark.parametrize(
    ("name", "version"),
    [("Produce", 10), ("Fetch", 16), ("ShareFetch", 1), ("ShareAcknowledge", 1)],
)
def test_06_responses_with_node_endpoints_are_whole_before_they_leave(
    chunks: Chunks, name: str, version: int
) -> None:
    actor = Stage().actor()
    body: dict[str, Any] = {"acks": 1} if name == "Produce" else {}
    actor.ask(request(name, 1, version=version, **body))
    answer = response(name, 1, version=version, node_endpoints=[REAL])
    actor.answer(answer[:-1], chunks)
    assert actor.sent["response"] == b""
    actor.answer(answer[-1:])
    assert actor.sent["response"] == response(name, 1, version=version, node_endpoints=[PROXY])


@slicings
@pytest.mark.parametrize(("name", "version"), [("Produce", 9), ("Fetch", 15)])
def test_06_all_others_stream(chunks: Chunks, name: str, version: int) -> None:
    actor = Stage().actor()
    body: dict[str, Any] = {"acks": 1} if name == "Produce" else {}
    actor.ask(request(name, 1, version=version, **body))
    answer = response(name, 1, version=version)
    actor.answer(answer[:-1], chunks)
    assert actor.sent["response"] == answer[:-1]


@slicings
def test_06_user_endpoints_of_streams_are_not_brokers(chunks: Chunks) -> None:
    answer = response(
        "StreamsGroupHeartbeat",
        1,
        version=0,
        partitions_by_user_endpoint=[{"user_endpoint": {"host": "app", "port": 8080}}],
    )
    asked = request("StreamsGroupHeartbeat", 1, version=0, group_id="g", member_id="m")
    assert exchange(Stage().actor(), asked, answer, chunks) == answer


@slicings
def test_06_the_cluster_and_node_that_a_client_expects_pass(chunks: Chunks) -> None:
    """ApiVersions v5 (4.4): nothing of a request is changed."""
    fields: dict[str, Any] = {"cluster_id": "of-the-cluster", "node_id": 3}
    asked = request("ApiVersions", 1, version=5, client_software_name="x", **fields)
    actor = Stage().actor()
    actor.ask(asked, chunks)
    assert actor.sent["request"] == asked


# 12: odd layouts


@slicings
@pytest.mark.parametrize("observed", [True, False])
def test_12_controlled_shutdown_v0_has_no_client_id(chunks: Chunks, observed: bool) -> None:
    actor = Stage(observed=observed).actor()
    asked = request("ControlledShutdown", 6, version=0, broker_id=1)
    assert len(asked) == 4 + 8 + 4
    answer = response("ControlledShutdown", 6, version=0)
    beats = request("Heartbeat", 5, group_id="g"), response("Heartbeat", 5)
    actor.ask(beats[0] + asked + beats[0], chunks)
    actor.answer(beats[1] + answer + beats[1], chunks)
    assert actor.sent["request"] == beats[0] + asked + beats[0]
    assert actor.ids("response") == [5, 6, 5]
    assert actor.stage.totals.undecoded == 0
    assert actor.connection.idle


@slicings
def test_12_the_brokers_refusal_of_an_api_versions_is_read_as_v0(chunks: Chunks) -> None:
    actor = Stage().actor()
    own = [{"api_key": 18, "min_version": 0, "max_version": 2}]
    refusal = response("ApiVersions", 1, version=0, error_code=35, api_keys=own)
    assert exchange(actor, request("ApiVersions", 1, version=4), refusal, chunks) == refusal
    assert actor.done[0].error == "UNSUPPORTED_VERSION"
    assert actor.stage.totals.undecoded == 0


@slicings
def test_12_for_any_other_api_the_brokers_close_is_passed_on(chunks: Chunks) -> None:
    actor = Stage().actor()
    newer = raw(struct.pack(">hhih", 3, 99, 1, 2) + b"me" + b"\xff" * 9)
    actor.ask(newer, chunks)
    assert actor.sent["request"] == newer
    actor.end("response")
    assert actor.finished == ["response"]
    actor.close()
    assert [x.note for x in actor.done] == ["no response: connection closed"]
