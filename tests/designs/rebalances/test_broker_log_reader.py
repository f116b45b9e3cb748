"""Offsets in a log of __consumer_offsets."""

from __future__ import annotations

from pathlib import Path

from barnabas.designs.rebalances.broker_log_reader import LoggedOffset, read, segments
from barnabas.specs.embedded import message
from barnabas.specs.records import Record, build


def record(group: str, offset: int, mark: str) -> Record:
    key = {"group": group, "topic": "records", "partition": 1}
    value = {"offset": offset, "metadata": mark, "commit_timestamp": 1500, "expire_timestamp": 9}
    return Record(
        offset=0,
        timestamp=0,
        key=b"\0\1" + message("OffsetCommitKey").codec(0).encode(key),
        value=b"\0\1" + message("OffsetCommitValue").codec(1).encode(value),
        headers=(),
    )


def test_offsets_by_group_in_their_order(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "__consumer_offsets-0"
    folder.mkdir(parents=True)
    gone = record("g", 0, "")._replace(value=None)
    other = Record(offset=0, timestamp=0, key=b"\0\2\0\1g", value=b"\0\0", headers=())
    sets = [build([record("g", 10, "first"), gone, other]), build([record("h", 5, "")])]
    (folder / "00000000000000000000.log").write_bytes(b"".join(sets))
    (folder / "00000000000000000007.log").write_bytes(build([record("g", 20, "async-17")]))
    assert read(segments(tmp_path)) == {
        "g": [LoggedOffset(1.5, 1, 10, "first"), LoggedOffset(1.5, 1, 20, "async-17")],
        "h": [LoggedOffset(1.5, 1, 5, "")],
    }
