"""What is changed without a rule, in every version: addresses, and the versions that are offered."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.edits import explain, refusal
from proxy.offer import NEWEST_API_VERSIONS, Offer, ceiling
from specs import NAMES, api
from specs.addresses import LEAKING, PLACES
from tests.proxy.playbook import Actor, Chunks, Stage, bytewise, request, response, whole

PATCHED = [
    (key, version)
    for key, places in PLACES.items()
    for version in range(api(key).versions[0], api(key).versions[1] + 1)
    if any(place.first <= version <= place.last for place in places)
]


def nodes(key: int, version: int, host: str, port: int) -> dict[str, Any]:
    """A response that names node 3 there, and one without an address."""
    owner = "broker_id" if key == 60 else "node_id"
    found = [{owner: 3, "host": host, "port": port}, {owner: -1, "host": "", "port": -1}]
    match key:
        case 0 | 1 | 78 | 79:
            return {"node_endpoints": found}
        case 10 if version < 4:
            return found[0]
        case 10:
            return {"coordinators": found}
        case _:
            return {"brokers": found}


def asked(key: int, version: int) -> bytes:
    body: dict[str, Any] = {"acks": 1} if key == 0 else {}
    return request(NAMES[key], 7, version=version, **body)


@pytest.mark.parametrize(("key", "version"), PATCHED)
@pytest.mark.parametrize("observed", [True, False])
def test_addresses_in_every_version(key: int, version: int, observed: bool) -> None:
    actor = Stage(observed=observed).actor()
    for chunks in (whole, bytewise):
        actor.ask(asked(key, version), chunks)
        real = response(NAMES[key], 7, version=version, **nodes(key, version, "real", 9092))
        actor.answer(real, chunks)
        there = nodes(key, version, "proxy", 10_003)
        assert actor.frames("response")[-1] == response(NAMES[key], 7, version=version, **there)
    assert actor.stage.totals.undecoded == 0


@pytest.mark.parametrize(
    ("key", "version"), [(0, 9), (0, 3), (1, 15), (1, 11), (12, 4), (8, 8), (11, 7)]
)
def test_other_responses_pass_in_the_pieces_that_they_come_in(key: int, version: int) -> None:
    actor = Stage().actor()
    actor.ask(asked(key, version))
    frame = response(NAMES[key], 7, version=version)
    actor.answer(frame[:10])
    actor.answer(frame[10:])
    assert [data for _, data in actor.times["response"]] == [frame[:10], frame[10:]]


def test_a_node_without_a_host_stays_as_it_is() -> None:
    actor = Stage().actor()
    actor.ask(request("FindCoordinator", 1, version=2, key="g"))
    nobody = response("FindCoordinator", 1, version=2, error_code=15, node_id=-1, host="", port=-1)
    actor.answer(nobody)
    assert actor.sent["response"] == nobody
    assert actor.left == []


def test_a_response_whose_addresses_can_not_be_found_is_flagged_by_its_number() -> None:
    actor = Stage().actor()
    actor.ask(request("ListGroups", 1, version=0) + request("Metadata", 2, version=9))
    broken = response("Metadata", 2, version=9)[4:] + b"\xff"
    frame = len(broken).to_bytes(4, "big") + broken[:5] + b"\xff" * (len(broken) - 5)
    actor.answer(response("ListGroups", 1, version=0) + frame)
    assert actor.frames("response")[1] == frame
    assert actor.cuts[0]["frame"] == 1
    assert "Metadata v9" in actor.cuts[0]["undecodable"]


def offer(actor: Actor, version: int, keys: list[tuple[int, int, int]]) -> dict[str, Any]:
    """What the client gets when the broker offers these."""
    named = [{"api_key": key, "min_version": low, "max_version": high} for key, low, high in keys]
    actor.ask(request("ApiVersions", 1, version=version))
    answer = response("ApiVersions", 1, version=version, api_keys=named, error_code=0)
    actor.answer(answer)
    return api("ApiVersions").response.codec(version).decode(actor.frames("response")[-1][8:])


@pytest.mark.parametrize("version", range(NEWEST_API_VERSIONS + 1))
def test_no_version_is_offered_that_is_unknown_or_leaks(version: int) -> None:
    everything = [(key, 0, 99) for key in (*NAMES, 12_345)]
    body = offer(Stage().actor(), version, everything)
    offered = {x["api_key"]: (x["min_version"], x["max_version"]) for x in body["api_keys"]}
    assert offered == {key: (0, newest) for key in NAMES if (newest := ceiling(key)) is not None}
    assert offered[0][0] == 0  # librdkafka needs Produce v0
    assert 12_345 not in offered
    for key, first in LEAKING.items():
        assert key not in offered or offered[key][1] < first


@pytest.mark.parametrize("chunks", [whole, bytewise])
def test_an_offer_that_needs_no_change_passes_byte_for_byte(chunks: Chunks) -> None:
    actor = Stage().actor()
    keys = [{"api_key": 3, "min_version": 0, "max_version": 9}]
    answer = response("ApiVersions", 1, version=3, api_keys=keys)
    actor.ask(request("ApiVersions", 1, version=3), chunks)
    actor.answer(answer, chunks)
    assert actor.sent["response"] == answer
    assert actor.left == []


def test_a_brokers_own_refusal_of_a_version_is_v0_and_is_read_so() -> None:
    actor = Stage().actor()
    actor.ask(request("ApiVersions", 1, version=4))
    refused = response("ApiVersions", 1, version=0, error_code=35, api_keys=[
        {"api_key": 18, "min_version": 0, "max_version": 99}
    ])  # fmt: skip
    actor.answer(refused)
    body = api("ApiVersions").response.codec(0).decode(actor.frames("response")[0][8:])
    assert body["api_keys"] == [
        {"api_key": 18, "min_version": 0, "max_version": NEWEST_API_VERSIONS}
    ]
    assert actor.done[0].error == "UNSUPPORTED_VERSION"


def test_our_own_refusal_is_the_bytes_of_kip_511() -> None:
    assert refusal(Offer()) == bytes.fromhex("0023 00000001 0012 0000") + bytes(
        [0, NEWEST_API_VERSIONS]
    )


def test_every_edit_is_explained() -> None:
    text = "\n".join(explain(Offer()))
    for key in (*PLACES, *LEAKING):
        assert NAMES[key] in text
