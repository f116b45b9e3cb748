"""Bugs that are planted in how packed records are read: a short campaign finds them."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any

import xxhash
from construct import ConstructError

from barnabas.fuzz.answering.seeds import seeds
from barnabas.fuzz.cases.case import Case, Recipe, Seed
from barnabas.fuzz.engine.making import Maker
from barnabas.fuzz.engine.running import run_range
from barnabas.fuzz.targets.decoder import DecoderTarget
from barnabas.specs import Malformed, decode_frame, keys
from barnabas.specs.containers.lz4 import LZ4
from barnabas.specs.containers.xerial import MAGIC
from barnabas.specs.records import Batch, read
from tests.fuzz.fakes import RAISED

CASES = 10_000
"""Within which each is found; of a campaign about all of these versions and two more APIs."""


class PlantedError(Exception):
    """The bug."""


def chunk_of_two_gib(batch: Batch, data: bytes) -> bool:
    """A reader that asks for the memory that a chunk of xerial's says."""
    return data.startswith(MAGIC) and data[16:20] == struct.pack(">i", 2**31 - 1)


def negative_content(batch: Batch, data: bytes) -> bool:
    """One that looks at the header's checksum of LZ4 first, and then believes the content's size."""
    if batch.compression != "lz4":
        return False
    frame = LZ4.parse(data)
    sums = LZ4.build(frame)[:15]
    return (frame.content_size or 0) < 0 and _header_fits(sums)


def _header_fits(header: bytes) -> bool:
    return xxhash.xxh32_intdigest(header[4:-1]) >> 8 & 0xFF == header[-1]


def raw_size(batch: Batch, data: bytes) -> bool:
    """One that believes what raw snappy says comes out."""
    return batch.compression == "snappy" and data.startswith(b"\xff\xff\xff\xff\x07")


def window(batch: Batch, data: bytes) -> bool:
    """One that makes a window as large as zstd's frame says: 2^31 bytes and more."""
    return batch.compression == "zstd" and not data[4] & 0x20 and data[5] >> 3 > 20


PLANTED = (chunk_of_two_gib, negative_content, raw_size, window)


@functools.cache
def corpus() -> tuple[Seed, ...]:
    """Of several APIs and versions, as a client asks for them."""
    asked = [(keys.FETCH, version) for version in range(4, 13)]
    asked += [(keys.METADATA, version) for version in range(13)]
    asked += [(keys.OFFSET_FETCH, version) for version in range(9)]
    return tuple(seeds(asked))


def batches(case: Case) -> list[Batch]:
    """What stands in a Fetch answer that reads as one."""
    seed = case.recipe.seed
    try:
        frame = decode_frame(case.chunks[0][4:], "response", key=seed.key, version=seed.version)
        return [
            batch
            for topic in frame.body["responses"]
            for partition in topic["partitions"]
            for batch in read(partition["records"] or b"")
        ]
    except Malformed:
        return []


def reader(found: set[str]) -> Callable[[Case], dict[str, Any]]:
    """A reader with all of them but those that were found."""

    def reads(case: Case) -> dict[str, Any]:
        if case.recipe.seed.key == keys.FETCH:
            for batch in batches(case):
                packed = batch.crc_ok and batch.compression != "none" and batch.magic == 2
                for bug in PLANTED if packed else ():
                    if bug.__name__ not in found and bug(batch, bytes(batch.data)[61:]):
                        found.add(bug.__name__)
                        raise PlantedError(bug.__name__)
        return {}

    return reads


def test_a_short_campaign_finds_each() -> None:
    found: set[str] = set()
    target = DecoderTarget("planted", reader(found), (ConstructError, IndexError))
    raised = 0
    for batch in run_range(target, Maker("1", corpus()), (RAISED,), range(CASES)):
        raised += sum(one.count for one in batch.stats.findings.values())
        if len(found) == len(PLANTED):
            break
    assert found == {bug.__name__ for bug in PLANTED}, f"within {CASES} cases"
    assert raised == len(PLANTED)


def test_no_valid_message_has_any_of_them() -> None:
    for seed in corpus():
        if seed.key == keys.FETCH:
            reader(set())(Case(0, Recipe(seed, ()), (b"size" + seed.frame,)))
