"""However files are cut, the pieces hold the same packets with the same numbers, and meet."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path
from random import Random
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.files.file_format import CaptureFile
from barnabas.captures.files.pcapng import Packet
from barnabas.captures.writing.pcapng import comment_option, interface, packet, section
from barnabas.pipeline.reading.blocks import blocks
from barnabas.pipeline.reading.numbering import Numbers
from barnabas.pipeline.reading.packet_arrays import PacketArrays
from barnabas.pipeline.reading.plan import Plan
from barnabas.pipeline.reading.ranges import ranges
from tests import places
from tests.captures.hostile import mutated
from tests.pipeline.generated import KINDS, generated
from tests.pipeline.stages import planned

SAMPLES = [path for path in sorted(places.SAMPLES.iterdir()) if path.suffix != ".md"]

Row = tuple[int, int, int, int, bytes, tuple[str, ...]]
"""Number, offset, time, link type, bytes, comments."""


def packets(made: Plan) -> list[Row]:
    found = []
    for piece in made.pieces:
        numbers = Numbers(piece)
        for block in blocks(piece.range):
            if isinstance(block, PacketArrays):
                for item, number in enumerate(numbers.of(block).tolist()):
                    found.append(
                        (
                            number,
                            int(block.blocks[item]) + block.base,
                            int(block.times[item]),
                            int(block.linktypes[item]),
                            block.packet(item),
                            block.comments.get(item, ()),
                        )
                    )
    return found


def read_plainly(path: Path) -> list[Row]:
    with CaptureFile(path) as file:
        found = [block for block in file.blocks() if isinstance(block, Packet)]
    return [
        (number, one.file_offset, one.ts_ns, one.linktype, one.data, one.comments)
        for number, one in enumerate(found, 1)
    ]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_pieces_of_any_size_hold_the_packets_of_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = read_plainly(path)
    for size in (100, 333, 1000, 4096, 1 << 26):
        assert packets(planned([path], size)) == right
    monkeypatch.setattr("barnabas.pipeline.reading.blocks.MOST", 7)
    assert packets(planned([path], 1 << 26)) == right


@pytest.mark.slow("a long property")
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**32),
    size=st.integers(25, 3000),
    six=st.booleans(),
)
def test_any_split_points_give_identical_packets(
    tmp_path: Path, kind: str, seed: int, size: int, six: bool
) -> None:
    path = generated(tmp_path / "f", kind, seed, six=six)
    made = planned([path], size)
    assert packets(made) == read_plainly(path)
    assert not made.faults


@pytest.mark.slow("a long property")
@given(seed=st.integers(0, 2**32), sizes=st.lists(st.integers(25, 2000), min_size=2, max_size=2))
def test_damage_is_found_in_the_same_places_whatever_the_split(
    tmp_path: Path, seed: int, sizes: list[int]
) -> None:
    random = Random(seed)
    path = generated(tmp_path / "f", random.choice(KINDS), seed)
    others = [SAMPLES[0].read_bytes()]
    whole = path.read_bytes()
    head = 4 + 24 * random.randint(0, 1)  # what a file is stays known
    path.write_bytes(whole[:head] + mutated(whole[head:], others, random))
    try:
        ranges([path])
    except ValueError:
        return  # no capture any more
    found = [planned([path], size) for size in (*sizes, 1 << 26)]
    assert packets(found[0]) == packets(found[1]) == packets(found[2])
    assert found[0].faults == found[1].faults == found[2].faults


def test_what_stands_behind_a_damaged_region_is_read_and_the_region_is_a_fault(
    tmp_path: Path,
) -> None:
    path = generated(tmp_path / "f", "pcapng<", 7)
    right = read_plainly(path)
    data = bytearray(path.read_bytes())
    broken = right[20][1]
    data[broken + 4 : broken + 8] = b"\xff\xff\xff\x7f"
    path.write_bytes(data)
    for size in (200, 1 << 26):
        made = planned([path], size)
        assert [row[1:] for row in packets(made)] == [row[1:] for row in right if row[1] != broken]
        ((name, fault),) = made.faults
        assert (name, fault.offset, fault.bytes) == (str(path), broken, right[21][1] - broken)
        assert fault.kind == "corrupt"
        assert "block length 2147483647" in fault.reason


def test_a_file_that_ends_within_a_block_says_so(tmp_path: Path) -> None:
    path = generated(tmp_path / "f", "raw", 3)
    last = read_plainly(path)[-1]
    path.write_bytes(path.read_bytes()[:-1])
    for size in (100, 1 << 26):
        ((_, fault),) = planned([path], size).faults
        assert (fault.kind, fault.offset) == ("truncated", last[1])


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_packed_file_is_one_piece_and_a_broken_one_a_fault(tmp_path: Path, pack: Any) -> None:
    path = generated(tmp_path / "f", "pcapng>", 5)
    right = read_plainly(path)
    data = path.read_bytes()
    first = pack(data[: len(data) // 2])
    whole = first + pack(data[len(data) // 2 :])
    path.write_bytes(whole)
    made = planned([path], 100)
    assert len(made.pieces) == 1
    assert packets(made) == right
    path.write_bytes(whole[: len(first) + 40])
    cut = planned([path], 100)
    assert [fault.kind for _, fault in cut.faults] in (["truncated"], ["corrupt", "truncated"])
    assert 0 < len(packets(cut)) < len(right)
    assert packets(cut) == right[: len(packets(cut))]


def test_a_capture_within_a_packet_is_not_taken_for_blocks(tmp_path: Path) -> None:
    """Splits begin in a packet whose payload is itself a capture: what is found there is put right."""
    inner = section("", "") + interface(101)
    inner += b"".join(map(bytes, packet(5, b"", b"x" * 40))) * 60
    data = section("", "") + interface(101)
    for number in range(9):
        data += b"".join(map(bytes, packet(number, b"", inner, comment_option("c"))))
    path = tmp_path / "f"
    path.write_bytes(data)
    made = planned([path], 500)
    assert made.repaired
    assert packets(made) == read_plainly(path)
    assert len(packets(made)) == 9


def test_sections_of_both_orders_with_interfaces_of_their_own(tmp_path: Path) -> None:
    one = generated(tmp_path / "a", "pcapng<", 1).read_bytes()
    other = generated(tmp_path / "b", "pcapng>", 2).read_bytes()
    path = tmp_path / "f"
    path.write_bytes(one + other + one)
    right = read_plainly(path)
    for size in (150, 5000, 1 << 26):
        assert packets(planned([path], size)) == right


def test_an_interface_described_in_the_middle_holds_in_all_ranges_behind_it(tmp_path: Path) -> None:
    def block(kind: int, body: bytes) -> bytes:
        length = struct.pack("<I", len(body) + 12)
        return struct.pack("<I", kind) + length + body + length

    def enhanced(number: int, at: int) -> bytes:
        return block(6, struct.pack("<5I", number, 0, at, 4, 4) + b"abcd")

    data = section("", "") + interface(101) + b"".join(enhanced(0, at) for at in range(30))
    data += block(1, struct.pack("<HHI", 113, 0, 0)) + b"".join(enhanced(1, at) for at in range(30))
    path = tmp_path / "f"
    path.write_bytes(data)
    assert packets(planned([path], 100)) == read_plainly(path)


def test_a_section_is_a_section_whatever_it_says_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "f.pcapng"
    path.write_bytes(section(json.dumps({"barnabas": 1}), "") + interface(101))
    ((_, note),) = planned([path], 1 << 20).notes
    assert note["barnabas"] == "section"
