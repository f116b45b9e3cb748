"""What compressed records stand in is mapped: every byte, with lengths and checksums that mutators act on."""

from __future__ import annotations

import functools
import gzip
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import cramjam
import pytest
import xxhash

from barnabas.fuzz.cases.case import Case, Change, Recipe, Seed
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.engine.case_maker import Maker, cook
from barnabas.fuzz.engine.strata import places_of
from barnabas.fuzz.frame_map.compressed import message_of, packed
from barnabas.fuzz.frame_map.containers import ELEMENTS
from barnabas.fuzz.frame_map.fields import FieldMap, field_of, map_of
from barnabas.fuzz.frame_map.numbers import WRITE
from barnabas.fuzz.frame_map.parts import Part
from barnabas.fuzz.generators.containers import CONTAINERS, names, packing
from barnabas.fuzz.mutators.registry import MUTATORS
from barnabas.fuzz.mutators.splicing import splice
from barnabas.fuzz.sessions.bodies import containers, produce
from barnabas.specs import Frame, decode_frame, encode_frame, keys
from barnabas.specs.containers.lz4 import LZ4, LZ4_MAGIC_0
from barnabas.specs.records import Batch, Record, build, compress, decompress, read

VERSIONS = (0, 2, 9)
"""Of Produce, which have magic 0, 1 and 2."""


@functools.cache
def message(name: str, version: int, records: bytes = b"") -> FieldMap:
    body = dict(produce(version, container=name))
    if records:
        body["topic_data"][0]["partition_data"][0]["records"] = records
    header = {"request_api_key": 0, "request_api_version": version, "correlation_id": 1}
    frame = encode_frame(Frame("request", keys.PRODUCE, version, {**header, "client_id": ""}, body))
    return map_of(Seed(keys.PRODUCE, version, "request", frame[4:], f"{version} {name}"))


def container(chart: FieldMap) -> FieldMap:
    (found,) = (inner for inner in packed(chart) if inner.parts[0].kind == "container")
    return found


EACH = [(name, version) for version in VERSIONS for name in names(zstd=version > 2)]


def sent(case: Case) -> bytes:
    body = decode_frame(case.chunks[0][4:], "request").body
    records: bytes = body["topic_data"][0]["partition_data"][0]["records"]
    return records


def batch(case: Case) -> Batch:
    return next(iter(read(sent(case))))


def packed_bytes(case: Case) -> bytes:
    data = bytes(batch(case).data)
    return data[{0: 26, 1: 34, 2: 61}[batch(case).magic] :]


def changed(chart: FieldMap, mutator: str, path: str, draws: int) -> Case:
    return cook(Recipe(message_of(chart).seed, (Change(mutator, path, draws << 24),)), 1)


def mended(chart: FieldMap, mutator: str, path: str) -> Iterator[Case]:
    for draws in range(40):
        case = changed(chart, mutator, path, draws)
        if "unchanged" not in case.recipe.changes[0].detail:
            yield case


@pytest.mark.parametrize(("name", "version"), EACH)
def test_its_parts_cover_all_bytes_once(name: str, version: int) -> None:
    result = container(message(name, version))
    assert result.parts[0][2:4] == (0, len(result.seed.frame))
    fields = [part for part in result.parts if part.kind not in ("struct", "container")]
    ends = [(part.start, part.end) for part in fields]
    assert [0, *(end for _, end in ends)] == [*(start for start, _ in ends), len(result.seed.frame)]
    assert not any(part.path.endswith(".rest") for part in result.parts)


@pytest.mark.parametrize(("name", "version"), EACH)
def test_what_is_around_a_part_is_written_as_it_stands_there(name: str, version: int) -> None:
    result = container(message(name, version))
    for part in result.parts:
        same = result.seed.frame[part.start : part.end]
        assert splice(result, part, same)[4:] == result.seed.frame
        if part.coding and part.coding != "crc":
            assert WRITE[part.coding](part.value) == same, part
        for index in part.around:
            assert result.parts[index].kind in ("length", "crc")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_header_of_lz4_keeps_its_checksum_right(version: int) -> None:
    """So that a reader comes to the size that is wrong; in magic 0 it is of the magic too (KIP-57)."""
    chart = container(message("lz4-sized", version))
    declared = LZ4 if version else LZ4_MAGIC_0
    sizes = set()
    for case in mended(chart, "lengths", f"{chart.parts[0].path}.content_size"):
        assert batch(case).crc_ok
        frame = declared.parse(packed_bytes(case))
        header = declared.build(frame)[4 if version else 0 : 14]
        assert frame.header_checksum == xxhash.xxh32_intdigest(header) >> 8 & 0xFF
        sizes.add(frame.content_size)
    assert {-1, -(2**63), 2**63 - 1} <= sizes


def _lz4(data: bytes) -> None:
    """Not a library's, which looks at the content's size, too."""
    content = decompress("lz4", data)
    if LZ4.parse(data).content_checksum != xxhash.xxh32_intdigest(content):
        raise ValueError("content checksum")


READERS: dict[str, Callable[[bytes], object]] = {
    "gzip": gzip.decompress,
    "gzip-named": gzip.decompress,
    "lz4-sized": _lz4,
    "zstd-checked": cramjam.zstd.decompress,
}
"""Who looks at the checksums of what comes out."""


@pytest.mark.parametrize("name", READERS)
def test_checksums_of_a_changed_content_are_right_or_wrong_as_is_said(name: str) -> None:
    chart = container(message(name, 9))
    data = next(
        part for part in chart.parts if part.path.rpartition(".")[2] in ("deflated", "data")
    )
    lines: Counter[str] = Counter()
    for draws in range(300):
        case = changed(chart, "bit_flips", data.path, draws)
        words = case.recipe.changes[0].detail.partition("; content checksum ")[2]
        lines[words] += 1
        if words == "mended":
            READERS[name](packed_bytes(case))
        elif words == "left wrong":
            with pytest.raises(Exception, match=r"(?i)checksum|crc"):
                READERS[name](packed_bytes(case))
    assert 0.5 < lines["mended"] / lines["left wrong"] < 2
    assert lines["left wrong"] > 20


@pytest.mark.parametrize("name", ["snappy", "snappy-raw"])
def test_unpacked_records_come_back_in_the_framing_that_they_had(name: str) -> None:
    chart = message(name, 9)
    paths = (part.path for inner in packed(chart) for part in inner.parts)
    for case in mended(chart, "hugeness", next(one for one in paths if one.endswith("[1].value"))):
        assert packed_bytes(case).startswith(b"\x82SNAPPY") == (name == "snappy")
        assert len(decompress("snappy", packed_bytes(case))) >= 250


def test_many_elements_of_snappy_are_one_part_behind_the_first() -> None:
    noise = [Record(n, 1, None, bytes(range(n, n + 9)) * 2) for n in range(200)]
    result = container(message("none", 9, build(noise, **packing("snappy-raw", 2))))
    elements = [part for part in result.parts if part.path.endswith("]")]
    assert len(elements) == ELEMENTS
    assert result.parts[-1].path.endswith(".rest")
    assert result.parts[-1].end == len(result.seed.frame)


def test_what_can_not_be_read_is_one_part_behind_the_rest() -> None:
    cut = build([Record(0, 1, None, b"v")], compression="lz4", compressor=lambda data: data)
    result = container(message("none", 9, cut))
    assert [(part.path.rpartition(".")[2], part.start, part.end) for part in result.parts[1:]] == [
        ("rest", 0, len(result.seed.frame))
    ]


def test_a_campaign_comes_to_every_field_of_every_container() -> None:
    charts = [message(one.name, 9) for one in CONTAINERS]
    made = Maker("s", [chart.seed for chart in charts])
    done = {
        (change.mutator, field_of(change.path))
        for case in made.cases(range(made.strata))
        for change in case.recipe.changes[:1]
    }
    for chart in charts:
        for part in container(chart).parts[1:]:
            for mutator in _mutators(part):
                assert (mutator, field_of(part.path)) in done


def _mutators(part: Part) -> tuple[str, ...]:
    if part.kind in ("length", "crc"):
        return ("lengths",) if part.kind == "length" else ("checksums",)
    if part.kind == "bytes":
        return ("hugeness", "emptiness")
    return ("limits",) if part.coding else ()


@pytest.mark.parametrize(("name", "version"), EACH)
def test_every_mutator_changes_what_it_is_put_to(name: str, version: int) -> None:
    chart = container(message(name, version))
    for number, (_, mutator, part) in enumerate(places_of(chart, MUTATORS)):
        for draws in range(6):
            made = mutator.apply(chart, part, SeededRandom(name, 100 * number + draws))
            assert made.chunks != (chart.framed,), (mutator.name, part.path, made.detail)
            assert made == mutator.apply(chart, part, SeededRandom(name, 100 * number + draws))
            assert made.delivery == "whole"


def unpacked(chart: FieldMap) -> list[FieldMap]:
    return [inner for inner in packed(chart) if inner.parts[0].kind == "unpacked"]


@pytest.mark.parametrize("version", [0, 2, 3, 9])
def test_a_value_in_packed_records_changes_and_all_else_reads(version: int) -> None:
    """The checksums and lengths around it are mended, so a reader comes to the changed record."""
    for name in containers(version):
        (inner,) = unpacked(message(name, version))
        (value,) = (part for part in inner.parts if part.path.endswith("records[1].value"))
        values = [
            [record.value for one in read(sent(case)) for record in one.records()]
            for case in mended(inner, "hugeness", value.path)
        ]
        assert len(values) > 10
        assert all((found[0], found[2]) == (b"value-0", b"value-2") for found in values)
        assert all(len(found[1] or b"") >= 250 for found in values)


def test_wrappers_in_wrappers_are_opened_too() -> None:
    inner = build([Record(0, -1, None, b"deep")], magic=0, compression="gzip")
    twice = compress("gzip", inner, magic=0)
    outer = build(
        [Record(0, -1, None, b"")], magic=0, compression="gzip", compressor=lambda _: twice
    )
    maps = unpacked(message("none", 1, outer))
    assert len(maps) == 2
    deepest = maps[-1]
    value = next(part for part in deepest.parts if part.path.endswith(".value"))
    assert deepest.seed.frame[value.start : value.end] == b"deep"
    case = next(mended(deepest, "hugeness", value.path))
    again = unpacked(map_of(replace(case.recipe.seed, frame=case.chunks[0][4:])))[-1]
    assert again.packing is not None
    assert any(part.path == value.path and part.value >= 250 for part in again.parts)


@pytest.mark.parametrize(("version", "head", "last"), [(0, 18, "attributes"), (2, 26, "timestamp")])
def test_a_message_is_mapped_up_to_a_length_that_lies(version: int, head: int, last: str) -> None:
    data = build([Record(0, 1000 if version else -1, b"k", b"v")], magic=version // 2)
    lying = data[:head] + b"\x7f\xff\xff\xff" + data[head + 4 :]
    paths = [part.path for part in message("none", version, lying).parts]
    assert [path for path in paths if ".records[0]." in path][-1].endswith(f"records[0].{last}")
