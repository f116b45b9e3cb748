"""What real clients and brokers said: tshark shows each field as we decode it, in the same packets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange, body_version
from barnabas.specs import api
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.registry import REGISTRY
from tests import places
from tests.captures.traffic import exchanges
from tests.specs.wireshark.dissected import alike, dissected, expected

pytestmark = [pytest.mark.needs_tshark, pytest.mark.filterwarnings("ignore")]

MODULES = {key: module for key, _, module in REGISTRY}

Frame = tuple[Direction, Exchange]

UNPAIRED = "what this answers is not in the capture"

PROXIED = {
    f"{name}.pcapng"
    for name in ("embedded", "faults", "flapping", "kip-848", "sasl", "transactions")
}
"""Captures of a proxy: a response that it changed or held back left in a conversation without requests."""


def decoded_frames(path: Path) -> dict[tuple[int, str, int], Frame]:
    """The frames whose bodies we decode, by packet, direction and correlation id."""
    found: dict[tuple[int, str, int], Frame] = {}
    for exchange in exchanges(path):
        packets = exchange.request_packet, exchange.response_packet
        for direction, packet in zip(DIRECTIONS, packets, strict=True):
            if packet and decoded(exchange, direction) is not None and not exchange.inferred:
                found[packet, direction, exchange.correlation_id] = direction, exchange
    return found


def decoded(exchange: Exchange, direction: Direction) -> dict[str, Any] | None:
    return exchange.request if direction == "request" else exchange.response


def fields(direction: Direction, exchange: Exchange) -> Iterator[tuple[str, str]]:
    body, key = exchange.body(direction) or b"", exchange.key
    version = body_version(key, exchange.version, direction, body)
    codec = api(key).message(direction).codec(version)
    values, oddities = codec.inspect(body)
    yield from expected(codec.layout, values, f"{MODULES[key]}_{direction}")
    for odd in oddities:
        if odd.what.endswith(" trailing bytes"):
            yield "trailing", body[odd.offset :].hex()


@pytest.mark.parametrize("name", sorted(path.name for path in places.SAMPLES.glob("*.pcap*")))
def test_tshark_shows_what_we_decode(tmp_path: Path, name: str) -> None:
    path = places.SAMPLES / name
    wanted = decoded_frames(path)
    ports = {exchange.server_address.rpartition(":")[2] for _, exchange in wanted.values()}
    listed = "1-65535" if name in PROXIED else ",".join(sorted(ports))
    listening = "tls_ports" if name.startswith("tls") else "ports"
    wrong = []
    for found in dissected(path, "-o", f"bkafka.{listening}:{listed}"):
        shown = {field: value.partition("\0")[0] for field, value in found.fields}
        direction = "request" if shown.get("is_request") == "1" else "response"
        number = int(shown.get("correlation_id", -1))
        ours = wanted.pop((found.packet, direction, number), None)
        if ours is not None and UNPAIRED in found.problems:
            assert name in PROXIED
        elif ours is not None:
            fields_shown = found.body(f"{MODULES[ours[1].key]}_{direction}")
            wrong += [f"{found.title}: {each}" for each in alike(fields_shown, fields(*ours))]
    assert not wrong, "\n".join(wrong)
    assert not wanted
