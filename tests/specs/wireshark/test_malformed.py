"""Broken frames: tshark says what is wrong where Kafka refuses them, and neither hangs nor fails."""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from barnabas import specs
from barnabas.specs import Malformed
from barnabas.specs.codec.careful_decoder import FOREIGN_TAG
from barnabas.specs.frames import Direction, Frame, encode_frame
from tests.bodies import reassignments
from tests.captures.traffic import Said, ip_packet, request, segments, talk
from tests.golden.frames import Line, golden_frames, golden_lines
from tests.specs.codec.test_odd_bytes import OF_VERSIONS
from tests.specs.wireshark.dissected import Dissected, capture_of, dissected, tshark

pytestmark = pytest.mark.needs_tshark

WRONG = "at byte "
"""How the remark begins of what can't be read."""

OF_ANOTHER_VERSION = "tag-valid-only-later-version-fetch-v12-tag1"
"""Kafka refuses tags of other versions; a dissector shows what it can."""


def broken() -> list[Line]:
    results = [case for case in golden_lines("malformed") if case["kind"] == "message"]
    return [case for case in results if not case["api"].endswith("Header")]


def conversation(direction: Direction, key: int, version: int, body: bytes) -> list[Said]:
    """A body in a frame; a response behind the request that it answers."""
    requested = Frame("request", key, version, {"correlation_id": 1}, {})
    frame = replace(requested, direction=direction)
    empty = specs.api(key).message(direction).codec(version).encode({})
    whole = encode_frame(frame)[4 : -len(empty) or None] + body
    output = (direction, len(whole).to_bytes(4) + whole)
    return [output] if direction == "request" else [("request", encode_frame(requested)), output]


def last_of_each(path: Path, *conversations: list[Said]) -> Iterator[Dissected]:
    """What tshark makes of the last frame of each conversation."""
    shown = iter(dissected(capture_of(path, *conversations)))
    for said in conversations:
        yield [next(shown) for _ in said][-1]
    assert next(shown, None) is None


def is_malformed(found: Dissected) -> bool:
    return any(problem.startswith(WRONG) for problem in found.problems)


def test_what_kafka_refuses_is_malformed_and_nothing_else(tmp_path: Path) -> None:
    cases = [case for case in broken() if case["case"] not in {*OF_VERSIONS, OF_ANOTHER_VERSION}]
    lines = [
        conversation(c["direction"], specs.key_of(c["api"]), c["version"], bytes.fromhex(c["hex"]))
        for c in cases
    ]
    wrong = [
        case["case"]
        for case, found in zip(cases, last_of_each(tmp_path / "a.pcap", *lines), strict=True)
        if is_malformed(found) == case["4.4.0"]["accepted"]
    ]
    assert not wrong


def changed(body: bytes, chance: random.Random) -> bytes:
    """A body with one thing wrong, as a rule."""
    at = chance.randrange(len(body) + 1)
    match chance.randrange(4):
        case 0:
            return body[:at]
        case 1:
            return body[:at] + b"\x7f\xff\xff\xff" + body[at + 4 :]
        case 2:
            return body[:at] + b"\xff\xff\xff\xff\x07" + body[at:]
    return body[:at] + bytes([chance.randrange(256)]) + body[at + 1 :]


def some_frames(chance: random.Random) -> list[Line]:
    """Golden frames, no large ones."""
    return chance.sample([frame for frame in golden_frames() if len(frame["hex"]) < 4000], 500)


def test_what_we_refuse_of_random_changes_is_malformed_and_nothing_else(tmp_path: Path) -> None:
    chance = random.Random(7)
    said, refused = [], []
    for frame in some_frames(chance):
        key, direction, version = frame["key"], frame["direction"], frame["version"]
        body = changed(bytes.fromhex(frame["hex"]), chance)
        said.append(conversation(direction, key, version, body))
        try:
            specs.api(key).message(direction).codec(version).inspect(body)
            refused.append("")
        except Malformed as problem:
            refused.append(str(problem))
    results = list(last_of_each(tmp_path / "a.pcap", *said))
    wrong = [
        (one.title, reason, one.problems)
        for one, reason in zip(results, refused, strict=True)
        if is_malformed(one) != bool(reason) and not reason.endswith(FOREIGN_TAG)
    ]
    assert not wrong
    assert 100 < sum(map(bool, refused)) < 450


def test_frames_that_are_cut_or_of_wrong_sizes_do_no_harm(tmp_path: Path) -> None:
    chance = random.Random(8)
    lines: list[list[Said]] = []
    for frame in some_frames(chance):
        talk = conversation(
            frame["direction"], frame["key"], frame["version"], bytes.fromhex(frame["hex"])
        )
        direction, data = talk[-1]
        at = chance.choice((0, 1, 2, 3, 4, 6, 8, 12, chance.randrange(len(data))))
        spoilt = data[:at] + chance.randbytes(chance.randrange(1, 5)) + data[at + 4 :]
        lines.append([*talk[:-1], (direction, spoilt), talk[-1]])
    path = capture_of(tmp_path / "a.pcap", *lines)
    shown = dissected(path, "-2")
    assert sum(is_malformed(one) for one in shown) > 50
    assert len(shown) > 500
    assert "Dissector bug" not in tshark(path, "-V").stdout


def test_packets_that_were_cut_by_who_captured_them(tmp_path: Path) -> None:
    whole = segments(talk(), itertools.repeat(70), broker=("10.0.0.2", 9092))
    parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 101)]
    for at, packet in enumerate(map(ip_packet, whole)):
        kept = packet[: 41 + at % 40]
        parts.append(struct.pack("<IIII", 1, at, len(kept), len(packet)) + kept)
    path = tmp_path / "a.pcap"
    path.write_bytes(b"".join(parts))
    result = dissected(path, "-2")
    assert any("the frame is cut off in the capture" in one.problems for one in result)
    assert any(not one.problems for one in result)


def test_fields_of_a_frame_are_shown_up_to_a_number(tmp_path: Path) -> None:
    output = conversation("request", 45, 0, reassignments(40_000))
    (found,) = last_of_each(tmp_path / "a.pcap", output)
    (problem,) = found.problems
    assert problem.endswith("more than 100000 fields: the rest is not shown")


def test_envelopes_in_each_other_come_to_an_end(tmp_path: Path) -> None:
    body = b""
    data = encode_frame(Frame("request", 3, 1, {"correlation_id": 1}, {}))[4:]
    for _ in range(300):
        body = specs.api("Envelope").request.codec(0).encode({"request_data": data})
        head = encode_frame(Frame("request", 58, 0, {"correlation_id": 1}, {"request_data": data}))
        data = head[4:]
    (found,) = last_of_each(tmp_path / "a.pcap", conversation("request", 58, 0, body))
    (problem,) = found.inside_problems
    assert problem.endswith("more than 8 messages inside each other")


def test_a_filter_finds_what_is_malformed_in_bodies_and_inside_of_bytes(tmp_path: Path) -> None:
    member = {"group_id": "g", "protocol_type": "consumer"}
    metadata = b"\0\0\0\0\0\1"
    joined = member | {"protocols": [{"name": "range", "metadata": metadata}]}
    lines: list[Said] = [
        ("request", request(1, 3, 1)),
        ("request", request(2, 3, 1)[:-4] + bytes((0, 0, 0, 9))),
        ("request", request(3, 11, 4, **joined)),
    ]
    path = capture_of(tmp_path / "a.pcap", *([one] for one in lines))
    # no tree is shown here, so that only what the filter needs is read
    result = tshark(path, "-Y", "bkafka.malformed").stdout.splitlines()
    assert ["Metadata v1" in result[0], "JoinGroup v4" in result[1], len(result)] == [True, True, 2]
    assert "Metadata v1" in tshark(path, "-Y", "_ws.expert").stdout
