"""Node endpoints at the end of responses: found in any slices, replaced in as many bytes or all left out."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, seed, settings
from hypothesis import strategies as st

from barnabas import specs
from barnabas.specs.broker_addresses import ADDRESS_FIELDS, NodeKind
from barnabas.specs.codec.careful_encoder import uvarint
from barnabas.specs.malformed import Malformed
from barnabas.specs.node_endpoints import NAME, ResponseTail, ends_with_endpoints
from tests.specs.strategies import mutated, values

FORMS = [
    (key, version)
    for key in ADDRESS_FIELDS
    for version in range(specs.api(key).versions[1] + 1)
    if ends_with_endpoints(key, version)
]

FEW = settings(max_examples=20, database=None, suppress_health_check=list(HealthCheck))

HEADER = b"sizecorr\0"
"""Of a response: its size, the correlation id, and no tags."""

each_form = pytest.mark.parametrize(("key", "version"), FORMS)


def sliced(size: int, steps: list[int]) -> Iterator[tuple[int, int]]:
    at = turn = 0
    while at < size:
        step = steps[turn % len(steps)]
        yield at, min(at + step, size)
        at, turn = at + step, turn + 1


def found_at(key: int, version: int, body: bytes, steps: list[int]) -> tuple[ResponseTail, int]:
    """The tail of a response that comes in such steps, and where it begins in the body. Raises Malformed."""
    data = HEADER + body
    tail = ResponseTail(key, version, len(data) - 4, keep=True)
    for start, end in sliced(len(data), steps):
        piece = memoryview(b"before" + data[start:end] + b"behind")
        result = tail.find(piece, 6, 6 + end - start, len(data) - end)
        if result is not None:
            assert tail.kept is not None
            assert bytes(tail.kept) == data[: start + result - 6]
            return tail, start + result - 6 - len(HEADER)
    raise AssertionError("the last byte of a response is its tail's, or it is malformed")


def passed(key: int, version: int, body: bytes, steps: list[int], to: str = "proxy") -> bytes:
    def resolve(kind: NodeKind, node: int, host: str, port: int) -> tuple[str, int]:
        return to, 7

    tail, at = found_at(key, version, body, steps)
    if tail.empty(body[at]):
        return body
    replaced, _ = tail.replaced(body[at:], resolve)
    assert len(replaced) == len(body) - at
    return body[:at] + replaced


def nodes(key: int, version: int, body: bytes) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = specs.api(key).response.codec(version).decode(body)[NAME]
    return result


def test_they_are_what_is_listed_and_nothing_but_tags_comes_behind_them() -> None:
    assert {key for key, _ in FORMS} == {0, 1, 52, 53, 54, 59, 78, 79}
    for key, version in FORMS:
        layout = specs.api(key).response.layout(version)
        names = [slot.name for slot in layout.plain]
        assert NAME not in names[:-1]
        assert NAME in [*names[-1:], *(slot.name for slot in layout.tagged)]


@each_form
def test_any_response_in_any_slices_leaves_with_all_addresses_replaced_or_none(
    key: int, version: int
) -> None:
    codec = specs.api(key).response.codec(version)

    @FEW
    @seed(1)
    @given(
        values(codec.layout),
        st.lists(st.integers(1, 30), min_size=1, max_size=4),
        st.sampled_from(["", "p", "proxy", "a much longer host"]),
    )
    def check(built: dict[str, Any], steps: list[int], to: str) -> None:
        body = codec.encode(built)
        assume((1 << 31) - 1 not in built.get("_tags", {}))
        tail, at = found_at(key, version, body, steps)
        assert at == found_at(key, version, body, [len(body) + 1])[1]
        assert tail.empty(body[at]) == (
            not built[NAME] and ("_tags" not in built or key in (78, 79))
        )
        left = passed(key, version, body, steps, to)
        assert left[:at] == body[:at]
        after = codec.decode(left)
        assert codec.inspect(left)[1] == []
        known = built.get("_tags", {})
        tags = after.pop("_tags", {})
        assert known.items() <= tags.items()
        assert len(tags) <= len(known) + 1
        changed = [
            node | {"host": to, "port": 7} if node["host"] or node["port"] > 0 else node
            for node in built[NAME]
        ]
        assert repr(after) in [
            repr({name: value for name, value in built.items() if name != "_tags"} | {NAME: found})
            for found in (changed, [])
        ]

    check()


@each_form
def test_broken_bytes_are_read_as_a_client_reads_them_or_not_at_all(key: int, version: int) -> None:
    codec = specs.api(key).response.codec(version)

    @FEW
    @seed(1)
    @given(st.data(), values(codec.layout), st.lists(st.integers(1, 30), min_size=1, max_size=4))
    def check(data: st.DataObject, built: dict[str, Any], steps: list[int]) -> None:
        node = {"node_id": 1, "host": "real", "port": 9092}
        broken = data.draw(mutated(codec.encode(built | {NAME: [node, node]})))
        verdicts = []
        for slices in (steps, [1], [len(broken) + 1]):
            try:
                verdicts.append(passed(key, version, broken, slices))
            except Malformed:
                verdicts.append(b"")
        assert verdicts == verdicts[:1] * 3
        if verdicts[0]:
            try:
                result = nodes(key, version, verdicts[0])
            except Malformed:
                return
            assert all(one["host"] == "proxy" for one in result if one["host"] or one["port"] > 0)

    check()


def response(key: int, *hosts: str, **more: Any) -> tuple[int, int, bytes]:
    version = specs.api(key).versions[1]
    listed = [{"node_id": n, "host": host, "port": 9092} for n, host in enumerate(hosts)]
    return key, version, specs.api(key).response.codec(version).encode({NAME: listed, **more})


@pytest.mark.parametrize("key", [1, 78])
@pytest.mark.parametrize(
    ("real", "fits"),
    [
        ("host", False),  # one byte too short
        ("proxy", True),
        ("proxy2", False),  # no tag takes one byte
        ("proxy22", True),
        *((f"proxy{'2' * more}", True) for more in (3, 100, 128, 129, 130, 131, 132, 500)),
        *(("2" * size, True) for size in (16_390, 16_391, 16_392, 16_393)),
    ],
)
def test_they_are_replaced_where_there_is_room_else_left_out(
    key: int, real: str, fits: bool
) -> None:
    requested = response(key, real)
    left = passed(*requested, [100])
    assert [one["host"] for one in nodes(*requested[:2], left)] == ["proxy"] * fits
    assert specs.api(key).response.codec(requested[1]).inspect(left)[1] == []


def test_tags_that_nobody_knows_stay_where_there_is_room_behind_them() -> None:
    requested = response(1, "a-longer-host", _tags={7: b"known to a later version", 127: b""})
    left = passed(*requested, [100])
    result = specs.api(1).response.codec(requested[1]).decode(left)["_tags"]
    assert list(result) == [7, 127, 128]
    assert result[7] == b"known to a later version"
    full = response(1, "a-longer-host", _tags={(1 << 31) - 1: b""})
    with pytest.raises(Malformed, match="can't be filled"):
        passed(*full, [100])


@pytest.mark.parametrize("size", [1 << 14, 1 << 21, (1 << 31) - 1])
def test_bytes_behind_the_end_are_missed_as_soon_as_they_are_announced(size: int) -> None:
    codec = specs.api(1).response.codec(16)
    empty = {
        "topic_id": uuid.UUID(int=0),
        "partitions": [{"records": b"", "aborted_transactions": None}],
    }
    body = codec.encode({"responses": [empty]})
    lied = body[:-4] + uvarint(size) + body[-3:] + b"real"
    data, announced = HEADER + lied, len(HEADER) - 1 + len(body) - 4 + len(uvarint(size))
    tail = ResponseTail(1, 16, len(data) - 4)
    for at in range(announced):
        assert tail.find(data, at, at + 1, len(data) - at - 1) is None
    for _ in range(2):
        with pytest.raises(Malformed, match="addresses not found"):
            tail.find(data, announced, announced + 1, len(data) - announced - 1)
