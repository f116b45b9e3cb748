"""What goes wrong between a client and a broker, 5, 6 and 12: versions, addresses, odd layouts.

Elsewhere: every version of every response with addresses, and what is odd in them
(tests/proxy/edits/test_edits.py); that no declaration has one that is not listed
(tests/specs/test_broker_addresses.py); versions narrowed by option
(tests/proxy/edits/test_version_ranges.py).
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

from barnabas.proxy.edits.version_ranges import Offer
from barnabas.specs import api
from tests.proxy.frames import (
    Chunks,
    heartbeat_request,
    heartbeat_response,
    raw,
    request,
    response,
    slicings,
)
from tests.proxy.playbook import Actor, Stage

NEWEST_API_VERSIONS = Offer().newest_api_versions


def exchange(actor: Actor, asked: bytes, answer: bytes, chunks: Chunks) -> bytes:
    """Return the response that the client gets if the broker sends this one."""
    actor.ask(asked, chunks)
    actor.answer(answer, chunks)
    assert actor.stage.totals.undecoded == 0
    return actor.frames("response")[-1]


# 5: ApiVersions

QUORUM = [(key, *api(key).versions) for key in (52, 53, 54, 55, 59, 82)]


@slicings
@pytest.mark.parametrize(
    ("broker", "client"),
    [
        ([(5, 1, 99), (3, 0, 5), (1, 4, 11)], [(5, 1, 4), (3, 0, 5), (1, 4, 11)]),
        ([(8, 50, 60), (3, 20, 30), (500, 0, 3), (5, 0, 4)], [(5, 0, 4)]),
        (QUORUM, QUORUM),
        ([(0, 0, 12)], [(0, 0, 12)]),
    ],
    ids=["intersected", "unknown", "the quorum's addresses are replaced", "Produce stays at 0"],
)
def test_05_ranges_are_intersected_and_unknown_keys_removed(
    chunks: Chunks, broker: list[tuple[int, int, int]], client: list[tuple[int, int, int]]
) -> None:
    def offer(ranges: list[tuple[int, int, int]]) -> bytes:
        names = ("api_key", "min_version", "max_version")
        keys = [dict(zip(names, one, strict=True)) for one in ranges]
        return response("ApiVersions", 1, version=0, api_keys=keys)

    asked = request("ApiVersions", 1, version=0)
    assert exchange(Stage().actor(), asked, offer(broker), chunks) == offer(client)


@slicings
@pytest.mark.parametrize("version", [NEWEST_API_VERSIONS + 1, 77, 32767])
@pytest.mark.parametrize("broker", [0, 4, 99])
def test_05_above_our_maximum_the_answer_is_error_35_in_v0(
    chunks: Chunks, version: int, broker: int
) -> None:
    """Only the fixed header can be read; the response header is v0, too.

    The range is the broker's own, as far as it is known here.
    """
    actor = Stage().actor()
    newer = raw(struct.pack(">hhih", 18, version, 2, 2) + b"me" + b"\xff" * 9)
    around = heartbeat_request(1), heartbeat_request(3)
    actor.ask(around[0] + newer + around[1], chunks)
    assert actor.frames("request") == [around[0], request("ApiVersions", 2, version=0), around[1]]
    keys = [{"api_key": key, "min_version": 0, "max_version": broker} for key in (3, 18)]
    answer = response("ApiVersions", 2, version=0, api_keys=keys)
    actor.answer(heartbeat_response(1) + answer + heartbeat_response(3), chunks)
    newest = min(broker, NEWEST_API_VERSIONS)
    refusal = raw(struct.pack(">ihihhh", 2, 35, 1, 18, 0, newest))
    assert actor.frames("response") == [heartbeat_response(1), refusal, heartbeat_response(3)]
    assert [(x.version, x.error, x.note) for x in actor.done][1] == (
        version,
        "UNSUPPORTED_VERSION",
        "",
    )
    assert (actor.stage.totals.undecoded, actor.said) == (0, [])


# 6: addresses


@slicings
def test_06_a_controller_is_not_the_broker_of_its_id(chunks: Chunks) -> None:
    """DescribeCluster v1 with endpoint_type 2 lists controllers (KIP-919)."""
    for kind, port in ((1, 10_003), (2, 11_003)):
        brokers = [{"broker_id": 3, "host": "real", "port": 9093}]
        frame = exchange(
            Stage().actor(),
            request("DescribeCluster", 1, version=1, endpoint_type=kind),
            response("DescribeCluster", 1, version=1, endpoint_type=kind, brokers=brokers),
            chunks,
        )
        found = api("DescribeCluster").response.codec(1).decode(frame[9:])["brokers"]
        assert [(x["host"], x["port"]) for x in found] == [("proxy", port)]


@slicings
@pytest.mark.parametrize(
    ("name", "version"),
    [("Produce", 10), ("Fetch", 16), ("ShareFetch", 1), ("ShareAcknowledge", 1)],
)
def test_06_responses_with_node_endpoints_are_whole_before_they_leave(
    chunks: Chunks, name: str, version: int
) -> None:
    actor = Stage().actor()
    acks: dict[str, Any] = {"acks": 1} if name == "Produce" else {}
    actor.ask(request(name, 1, version=version, **acks))
    real, ours = (
        response(name, 1, version=version, node_endpoints=[{"node_id": 3, "host": host, "port": port}])
        for host, port in (("real", 9092), ("proxy", 10_003))
    )  # fmt: skip
    actor.answer(real[:-1], chunks)
    assert actor.sent["response"] == b""
    actor.answer(real[-1:])
    assert actor.sent["response"] == ours


# 12: odd layouts


@slicings
@pytest.mark.parametrize("newest", [2, 99])
def test_12_the_brokers_refusal_of_an_api_versions_is_read_as_v0(
    chunks: Chunks, newest: int
) -> None:
    actor = Stage().actor()
    refusal, seen = (
        response("ApiVersions", 1, version=0, error_code=35,
                 api_keys=[{"api_key": 18, "min_version": 0, "max_version": end}])
        for end in (newest, min(newest, NEWEST_API_VERSIONS))
    )  # fmt: skip
    assert exchange(actor, request("ApiVersions", 1, version=4), refusal, chunks) == seen
    assert actor.done[0].error == "UNSUPPORTED_VERSION"
