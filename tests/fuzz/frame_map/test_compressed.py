"""What is compressed: mapped to its fields, changed in one of them, and packed again so that it reads."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import pytest

from barnabas.fuzz.cases.case import Change, Recipe, Seed
from barnabas.fuzz.engine.making import cook
from barnabas.fuzz.frame_map.compressed import packed
from barnabas.fuzz.frame_map.fields import FieldMap, map_of
from barnabas.fuzz.sessions.bodies import containers, produce
from barnabas.specs import Frame, decode_frame, encode_frame, keys
from barnabas.specs.records import Record, build, compress, read

HEADER = {"request_api_key": 0, "correlation_id": 1, "client_id": "c"}


def produced(version: int, body: Mapping[str, Any], origin: str) -> Seed:
    header = {**HEADER, "request_api_version": version}
    frame = encode_frame(Frame("request", keys.PRODUCE, version, header, dict(body)))
    return Seed(keys.PRODUCE, version, "request", frame[4:], origin)


def with_records(version: int, records: bytes) -> Seed:
    body = {**produce(version)}
    body["topic_data"][0]["partition_data"][0]["records"] = records
    return produced(version, body, "records")


@functools.cache
def seed(version: int, codec: str) -> Seed:
    return produced(version, produce(version, container=codec), f"{version} {codec}")


def unpacked(chart: FieldMap) -> list[FieldMap]:
    return [inner for inner in packed(chart) if inner.parts[0].kind == "unpacked"]


def only(chart: FieldMap) -> FieldMap:
    (inner,) = unpacked(chart)
    return inner


def batches(chunk: bytes, version: int) -> bytes:
    frame = decode_frame(chunk[4:], "request")
    data: bytes = frame.body["topic_data"][0]["partition_data"][0]["records"]
    return data


@pytest.mark.parametrize("version", [0, 2, 3, 9])
def test_a_value_in_packed_records_changes_and_all_else_reads(version: int) -> None:
    """The checksums and lengths around it are mended, so a reader comes to the changed record."""
    for codec in containers(version):
        chart = map_of(seed(version, codec))
        value = [part for part in only(chart).parts if part.path.endswith("records[1].value")]
        assert len(value) == 1
        changed = 0
        for draws in range(20):
            change = _change("hugeness", value[0].path, draws)
            case = cook(Recipe(chart.seed, (change,)), 1)
            if "unchanged" in case.recipe.changes[0].detail:
                continue
            found = list(read(batches(case.chunks[0], version)))
            values = [one.value for batch in found for one in batch.records()]
            assert (values[0], values[2]) == (b"value-0", b"value-2")
            assert len(values[1] or b"") >= 250
            changed += 1
        assert changed > 5


def test_wrappers_in_wrappers_are_opened_too() -> None:
    inner = build([Record(0, -1, None, b"deep")], magic=0, compression="gzip")
    packed = compress("gzip", inner, magic=0)
    outer = build(
        [Record(0, -1, None, b"")], magic=0, compression="gzip", compressor=lambda _: packed
    )
    message = with_records(1, outer)
    maps = unpacked(map_of(message))
    assert len(maps) == 2
    deepest = maps[-1]
    value = next(part for part in deepest.parts if part.path.endswith(".value"))
    assert deepest.seed.frame[value.start : value.end] == b"deep"
    cases = [cook(Recipe(message, (_change("hugeness", value.path, n),)), n) for n in range(5)]
    case = next(one for one in cases if "unchanged" not in one.recipe.changes[0].detail)
    again = unpacked(map_of(_again(message, case.chunks[0])))[-1]
    assert again.packing is not None
    assert any(part.path == value.path and part.value >= 250 for part in again.parts)


@pytest.mark.parametrize(("version", "head", "last"), [(0, 18, "attributes"), (2, 26, "timestamp")])
def test_a_message_is_mapped_up_to_a_length_that_lies(version: int, head: int, last: str) -> None:
    data = build([Record(0, 1000 if version else -1, b"k", b"v")], magic=version // 2)
    lying = data[:head] + b"\x7f\xff\xff\xff" + data[head + 4 :]
    paths = [part.path for part in map_of(with_records(version, lying)).parts]
    assert [path for path in paths if ".records[0]." in path][-1].endswith(f"records[0].{last}")


def _change(mutator: str, path: str, draws: int) -> Change:
    return Change(mutator, path, draws << 24)


def _again(message: Seed, chunk: bytes) -> Seed:
    return Seed(message.key, message.version, message.direction, chunk[4:], "again")
