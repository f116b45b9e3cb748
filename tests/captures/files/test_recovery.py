"""Reading continues after damage, which is reported with its place and size."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.files.file_format import CaptureFile
from barnabas.captures.files.pcapng import CaptureError, Damage, Packet, Truncated, each
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Event
from barnabas.captures.writing.pcapng import comment_option, interface, packet, section
from tests.captures.hostile import mutated
from tests.pipeline.generated import KINDS, generated
from tests.places import SAMPLES


def recovered(path: Path) -> tuple[list[Packet], list[Damage | Truncated]]:
    """The packets of a file, and the parts that can't be read."""
    with CaptureFile(path) as file:
        blocks = list(each(file.runs(recover=True)))
    packets = [block for block in blocks if isinstance(block, Packet)]
    return packets, [block for block in blocks if isinstance(block, Damage | Truncated)]


def intact(path: Path) -> list[Packet]:
    packets, unread = recovered(path)
    assert not unread
    return packets


@pytest.mark.parametrize("kind", KINDS)
def test_packets_after_a_wrong_length_are_read(tmp_path: Path, kind: str) -> None:
    path = generated(tmp_path / "f", kind, 7)
    packets = intact(path)
    data = bytearray(path.read_bytes())
    broken, following = packets[20], packets[21]
    at = broken.file_offset + (4 if kind.startswith("pcapng") else 8)
    data[at : at + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(data)
    found, unread = recovered(path)
    assert found == [each for each in packets if each != broken]
    ((offset, size, _, reason),) = unread  # type: ignore[misc]
    assert (offset, size) == (broken.file_offset, following.file_offset - broken.file_offset)
    assert "4294967295" in reason


def test_a_length_that_ends_after_the_file_is_damage_if_blocks_follow(tmp_path: Path) -> None:
    path = generated(tmp_path / "f", "pcapng<", 7)
    packets = intact(path)
    data = bytearray(path.read_bytes())
    at = packets[20].file_offset
    data[at + 4 : at + 8] = (1 << 25).to_bytes(4, "little")
    path.write_bytes(data)
    found, (unread,) = recovered(path)
    assert found == packets[:20] + packets[21:]
    assert isinstance(unread, Damage)
    assert unread.file_offset == at


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_ends_within_a_block_has_no_damage(tmp_path: Path, kind: str) -> None:
    path = generated(tmp_path / "f", kind, 3)
    packets = intact(path)
    path.write_bytes(path.read_bytes()[:-1])
    assert recovered(path) == (packets[:-1], [Truncated(packets[-1].file_offset)])


@pytest.mark.parametrize("kind", ["pcapng<", "ethernet"])
def test_a_file_that_grows_while_it_is_read_has_no_damage(tmp_path: Path, kind: str) -> None:
    path = generated(tmp_path / "f", kind, 3)
    packets, whole = intact(path), path.read_bytes()
    cut = packets[20].file_offset + 30
    path.write_bytes(whole[:cut])
    with CaptureFile(path) as file:
        blocks = file.runs(recover=True)
        first = next(blocks)  # the file is open, and its size is known
        path.write_bytes(whole)
        found = list(each([first, *blocks]))
    assert not any(isinstance(block, Damage) for block in found)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_compressed_file_is_read_as_far_as_it_can_be_decompressed(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    path = generated(tmp_path / "f", "pcapng>", 5)
    packets = intact(path)
    data = path.read_bytes()
    first = pack(data[: len(data) // 2])
    path.write_bytes((first + pack(data[len(data) // 2 :]))[: len(first) + 40])
    reader = CaptureReader(path)
    numbered: list[tuple[int, Path, Packet]] = []
    with suppress(CaptureError):
        numbered.extend(reader.numbered_packets())
    assert 0 < len(numbered) < len(packets)
    assert numbered == [(at, path, packets[at - 1]) for at in range(1, len(numbered) + 1)]


def test_a_capture_within_a_packet_is_no_part_of_the_capture(tmp_path: Path) -> None:
    inner = section("", "") + interface(101)
    inner += b"".join(map(bytes, packet(5, b"", b"x" * 40))) * 60
    data = section("", "") + interface(101)
    starts = []
    for number in range(9):
        starts.append(len(data))
        data += b"".join(map(bytes, packet(number, b"", inner, comment_option("c"))))
    path = tmp_path / "f"
    path.write_bytes(data)
    assert [each.file_offset for each in intact(path)] == starts


def test_a_damaged_section_header_ends_the_interfaces_before_it(tmp_path: Path) -> None:
    whole = generated(tmp_path / "a", "pcapng<", 1).read_bytes()
    broken = bytearray(whole)
    broken[12:14] = b"\x09\x00"  # its major version
    path = tmp_path / "f"
    path.write_bytes(whole + broken + whole)
    packets = intact(tmp_path / "a")
    found, unread = recovered(path)
    assert len(found) in (2 * len(packets), 3 * len(packets))
    assert unread


@pytest.mark.slow("a long property")
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**32))
def test_any_damage_is_read_to_the_end_and_counted(tmp_path: Path, kind: str, seed: int) -> None:
    """Blocks and damage follow each other without a hole, and neither is read twice."""
    random = Random(seed)
    path = generated(tmp_path / "f", kind, seed)
    whole = path.read_bytes()
    damaged = whole[:24] + mutated(
        whole[24:], [SAMPLES.joinpath("tls.pcapng").read_bytes()], random
    )
    path.write_bytes(damaged)
    try:
        packets, unread = recovered(path)
    except CaptureError:
        return  # not a capture
    offsets = [each.file_offset for each in (*packets, *unread)]
    assert len(set(offsets)) == len(offsets)
    assert all(offset < len(damaged) for offset in offsets)
    for damage in unread:
        if isinstance(damage, Damage):
            over = damage.file_offset + damage.bytes
            assert 0 < damage.bytes <= len(damaged) - damage.file_offset
            assert not any(damage.file_offset < offset < over for offset in offsets)


def test_the_reader_raises_the_first_damage_after_all_events(tmp_path: Path) -> None:
    path = generated(tmp_path / "f", "pcapng<", 7)
    before = list(CaptureReader(path))
    data = bytearray(path.read_bytes())
    broken = intact(path)[-3]
    data[broken.file_offset + 4 : broken.file_offset + 8] = b"\xff\xff\xff\x7f"
    path.write_bytes(data)
    reader, events = CaptureReader(path), list[Event]()
    with pytest.raises(CaptureError, match="block length 2147483647"):
        events.extend(reader)
    assert len(before) - len(events) <= 3
    ((damaged, offset),) = reader.damage
    assert (damaged, offset) == (path, broken.file_offset)
