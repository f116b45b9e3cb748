"""What is changed without a rule, in every version: addresses, and the versions that are offered."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest

from barnabas.captures.kafka.notes import WITHHELD
from barnabas.proxy.edits.edits import unsupported_version
from barnabas.proxy.edits.version_ranges import Offer, ceiling
from barnabas.specs import NAMES, api
from barnabas.specs.broker_addresses import ADDRESS_FIELDS, address_fields
from tests.proxy.frames import bytewise, raw, request, response, whole
from tests.proxy.playbook import Actor, Stage

NEWEST_API_VERSIONS = Offer().newest_api_versions

PATCHED = [
    (key, version)
    for key, places in ADDRESS_FIELDS.items()
    for version in range(api(key).versions[0], api(key).versions[1] + 1)
    if any(place.first <= version <= place.last for place in places)
]


def quorum(key: int) -> bool:
    """Whether the addresses are of controllers, whose ports take two bytes."""
    return ADDRESS_FIELDS[key][0].kind == "controller"


def there(key: int) -> int:
    """Return the proxy's port for node 3."""
    return 11_003 if quorum(key) else 10_003


def single(key: int, version: int) -> bool:
    """Whether a response has room for one node only."""
    return key == 82 or (key == 10 and version < 4)


def nodes(key: int, version: int, host: str, port: int) -> dict[str, Any]:
    """Return a response that names node 3 at this address, and a node without an address."""
    nowhere = 0 if quorum(key) else -1
    return held(key, version, [(3, host, port), (-1, "", nowhere)])


def held(key: int, version: int, found: list[tuple[int, str, int]]) -> dict[str, Any]:
    """Return a response with these nodes; only the first, if there is room for one."""
    place = address_fields(key, version)
    assert place is not None
    owner = place.owner.split(".")[-1]
    entries: list[dict[str, Any]] = [
        {owner: node, "host": host, "port": port} for node, host, port in found
    ]
    match place.path.split(".")[:-1]:
        case [] | ["current_leader"] as path:
            return {path[0]: entries[0]} if path else entries[0]
        case ["nodes", "listeners"]:
            listed = [
                {owner: one.pop(owner), "listeners": [{"name": "L", **one}]} for one in entries
            ]
            return {"nodes": listed}
        case [name]:
            return {name: entries}
    raise AssertionError(place)


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
        proxied = nodes(key, version, "proxy", there(key))
        assert actor.frames("response")[-1] == response(NAMES[key], 7, version=version, **proxied)
    assert actor.stage.totals.undecoded == 0


def rewritten(data: bytes, old: bytes, new: bytes) -> bytes:
    """Return a frame with bytes replaced at all places, and the size that it has then."""
    assert old in data
    return raw(data[4:].replace(old, new))


def with_host(data: bytes, compact: bool, length: bytes, host: bytes) -> bytes:
    """Return a frame with another second host, whose length is written as given."""
    before = b"\x07" if compact else b"\0\x06"
    return rewritten(data, before + b"real-2", length + host)


NULL_HOST = {True: (b"\0", b""), False: (b"\xff\xff", b"")}

Odd = Callable[[bytes, bool], bytes]
"""Makes a response with three addresses odd; whether its lengths are compact."""

ODD: dict[str, Odd] = {
    "as it should be": lambda data, compact: data,
    "no UTF-8": lambda data, compact: rewritten(data, b"real-2", b"real-\xff"),
    "half a surrogate pair": lambda data, compact: rewritten(data, b"eal-2", b"\xed\xa0\x80-2"),
    "a null host": lambda data, compact: with_host(data, compact, *NULL_HOST[compact]),
    "a null host of length -2": lambda data, compact: (
        with_host(data, False, b"\xff\xfe", b"") if not compact else data
    ),
    "an overlong length": lambda data, compact: (
        with_host(data, True, b"\x87\0", b"real-2") if compact else data
    ),
    "a length of more than 32 bits": lambda data, compact: (
        with_host(data, True, b"\x87\x80\x80\x80\x70", b"real-2") if compact else data
    ),
    "a length that goes beyond the end": lambda data, compact: with_host(
        data, compact, b"\xff\x7f" if compact else b"\x7f\xff", b"real-2"
    ),
    "a port that is none": lambda data, compact: (
        rewritten(data, b"real-2\0\0\x23\x84", b"real-2\xff\xff\x23\x84")
        if b"real-2\0\0" in data
        else rewritten(data, b"real-2\x23\x84", b"real-2\0\0")
    ),
    "a node of negative id": lambda data, compact: rewritten(
        data, (4711).to_bytes(4), (-7).to_bytes(4, signed=True)
    ),
    "the same node again": lambda data, compact: rewritten(
        data, (4711).to_bytes(4), (4710).to_bytes(4)
    ),
    "bytes left over": lambda data, compact: raw(data[4:] + b"\xff\xff"),
    "cut off": lambda data, compact: raw(data[4:-3]),
    "cut off behind the first": lambda data, compact: raw(data[4 : data.index(b"real-2")]),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(("key", "version"), PATCHED)
def test_no_address_passes_because_something_is_odd(key: int, version: int, odd: str) -> None:
    actor = Stage().actor()
    actor.ask(asked(key, version))
    several = [(4710 + n, f"real-{n + 1}", 9091 + n) for n in range(3)]
    if single(key, version):
        several = several[1:2]
    real = response(NAMES[key], 7, version=version, **held(key, version, several))
    actor.answer(ODD[odd](real, api(key).response.layout(version).flexible))
    if actor.aborted:
        assert not actor.sent["response"]
        assert len(actor.said) == 1
        assert actor.said[0].endswith("; connection closed")
        assert odd not in ("as it should be", "no UTF-8")
        assert [one.note for one in actor.done] == [WITHHELD]
    else:
        (sent,) = actor.frames("response")
        assert b"real" not in sent
        assert sent.count(b"proxy") == len(several)


@pytest.mark.parametrize(("key", "version"), [(0, 10), (0, 13), (1, 16), (1, 18)])
@pytest.mark.parametrize("size", [-1, 1, 7])
def test_a_tag_whose_size_is_not_that_of_its_addresses(key: int, version: int, size: int) -> None:
    actor = Stage().actor()
    actor.ask(asked(key, version))
    real = response(NAMES[key], 7, version=version, **nodes(key, version, "real", 9092))
    start = real.index(b"\x03\0\0\0\x03\x05real") - 1  # the size, the count, node 3
    actor.answer(real[:start] + bytes([real[start] + size]) + real[start + 1 :])
    assert actor.aborted
    assert "connection closed" in actor.said[0]


def test_a_header_that_nobody_reads_hides_no_address() -> None:
    actor = Stage().actor()
    actor.ask(request("Metadata", 1, version=9))
    real = response("Metadata", 1, version=9, **nodes(3, 9, "real", 9092))
    assert real[8] == 0  # the number of tags
    actor.answer(raw(real[4:8] + b"\xff\xff\xff\xff\xff\xff" + real[9:]))
    assert actor.aborted
    assert "connection closed" in actor.said[0]


UNREPLACED = [
    *((key, api(key).versions[1] + 1) for key in ADDRESS_FIELDS),
    *((key, -1) for key in ADDRESS_FIELDS),
]


@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize(("key", "version"), UNREPLACED)
def test_no_answer_passes_that_could_hold_addresses_nobody_replaces(
    key: int, version: int, observed: bool
) -> None:
    """No such version is offered; who asks for it all the same sees what the broker closes, at most."""
    actor = Stage(observed=observed).actor()
    for number in (6, 7):
        tags = b"\0" if version >= api(key).flexible else b""
        header = struct.pack(">hhih", key, version, number, -1) + tags
        actor.ask(raw(header + b"\0\1" + bytes(20)))
    assert actor.ids("request") == [6, 7]
    actor.answer(raw(struct.pack(">i", 6) + b"\0real")[:-1])
    assert (bytes(actor.sent["response"]), actor.aborted) == (b"", False)
    actor.answer(b"l")
    assert not actor.sent["response"]
    assert actor.aborted
    assert f"{NAMES[key]} v{version}, which is not offered, can't be" in actor.said[-1]
    assert actor.said[-1].endswith("connection closed")


@pytest.mark.parametrize("key", [*ADDRESS_FIELDS])
def test_no_answer_passes_to_a_request_for_addresses_whose_header_nobody_could_read(
    key: int,
) -> None:
    """Kafka reads a negative number of tags as none."""
    actor = Stage().actor()
    version = api(key).flexible
    header = struct.pack(">hhih", key, version, 7, -1) + b"\xff\xff\xff\xff\x0f"
    actor.ask(raw(header + bytes(20)))
    assert actor.sent["request"] == raw(header + bytes(20))
    actor.answer(response(NAMES[key], 7, version=version))
    assert not actor.sent["response"]
    assert actor.aborted
    assert actor.said[-1].endswith("connection closed")


def offer(actor: Actor, version: int, keys: list[tuple[int, int, int]]) -> dict[str, Any]:
    """Return the ApiVersions response that the client gets if the broker offers these."""
    named = [{"api_key": key, "min_version": low, "max_version": high} for key, low, high in keys]
    actor.ask(request("ApiVersions", 1, version=version))
    answer = response("ApiVersions", 1, version=version, api_keys=named, error_code=0)
    actor.answer(answer)
    return api("ApiVersions").response.codec(version).decode(actor.frames("response")[-1][8:])


@pytest.mark.parametrize("version", range(NEWEST_API_VERSIONS + 1))
def test_no_version_is_offered_that_is_unknown(version: int) -> None:
    everything = [(key, 0, 99) for key in (*NAMES, 12_345)]
    body = offer(Stage().actor(), version, everything)
    offered = {x["api_key"]: (x["min_version"], x["max_version"]) for x in body["api_keys"]}
    assert offered == {key: (0, newest) for key in NAMES if (newest := ceiling(key)) is not None}
    assert offered[0][0] == 0  # librdkafka needs Produce v0
    assert 12_345 not in offered


def test_our_own_refusal_is_the_bytes_of_kip_511() -> None:
    """With the range of the broker; an error of its own stays, with no range if it says none."""
    broker = bytes.fromhex("0000 00000002 0003 0000 000d 0012 0000 0004")
    assert unsupported_version(broker, Offer()) == bytes.fromhex("0023 00000001 0012 0000 0004")
    assert unsupported_version(bytes.fromhex("0022 00000000"), Offer()).hex() == "002200000000"


def test_an_answer_to_the_oldest_version_that_can_not_be_read_passes() -> None:
    actor = Stage().actor()
    actor.ask(raw(struct.pack(">hhih", 18, 77, 7, -1) + b"\xff"))
    assert actor.sent["request"] == raw(struct.pack(">hhih", 18, 0, 7, -1))
    actor.answer(raw(struct.pack(">i", 7) + b"\0"))
    assert actor.sent["response"] == raw(struct.pack(">i", 7) + b"\0")
    assert not actor.aborted
