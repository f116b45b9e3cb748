"""Segments that are fed one by one come to the rows of all at once, whatever happens between two."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.captures.files.file_format import CaptureFile
from barnabas.captures.files.pcapng import Packet
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Closed
from barnabas.pipeline.rows.exchanges import row
from barnabas.pipeline.streaming.following import Following, closed
from barnabas.pipeline.streaming.incremental_reader import COLUMNS, TableRow
from barnabas.pipeline.streaming.state import dump, load
from tests.captures.split import split
from tests.captures.traffic import write_pcap
from tests.captures.writing.test_rotation import OURS, SAMPLES, rotated, segments

Row = dict[str, Any]


def fed(
    folder: Path, batches: Iterable[Sequence[Path]], end: bool = True
) -> tuple[list[TableRow], Following]:
    """What the batches come to, each with the state of the one before as it was written."""
    found: list[TableRow] = []
    state = Following()
    for batch in batches:
        state = load(dump(state))
        found += state.batch(batch, partial(closed, folder))
    if end and state.reader is not None:
        found += state.reader.end()
    return found, state


def of(found: Iterable[TableRow], table: str) -> list[Row]:
    return [one.row for one in found if one.table == table]


def expected(source: Path) -> list[Row]:
    """Rows of the exchanges that the pure core gives of one file; `software` and `end_ns` apart."""
    context, rows = Context(), []
    for exchange in Conversations().exchanges(CaptureReader(source)):
        context.learn(exchange)
        rows.append(row(exchange, context, columns=COLUMNS))
    return [plain(each) for each in rows]


def plain(row: Row) -> Row:
    """Without what one file does not have: its segments' name and the numbers of their packets."""
    without = ("capture", "software", "end_ns", "request_packet", "response_packet")
    return {name: value for name, value in row.items() if name not in without}


@pytest.mark.slow("a long property")
@pytest.mark.parametrize("name", [*OURS, "kip-848.pcapng", "embedded.pcapng"])
@settings(max_examples=8)
@given(st.sets(st.integers(0, 200), min_size=3, max_size=12), st.randoms(use_true_random=False))
def test_one_by_one_is_all_at_once(
    name: str, tmp_path_factory: pytest.TempPathFactory, points: set[int], chance: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("capture")
    rotated(SAMPLES / name, folder, points)
    files = sorted(folder.iterdir())
    together, _ = fed(folder, [files])
    assert [plain(each) for each in of(together, "exchanges")] == expected(SAMPLES / name)
    one_by_one, _ = fed(folder, [[path] for path in files])
    assert one_by_one == together
    chance.shuffle(files)
    at = chance.randrange(len(files) + 1)
    shuffled, _ = fed(folder, [files[:at], files[at:]])
    assert shuffled == together


def test_software_stays_known_in_later_segments(tmp_path: Path) -> None:
    rotated(SAMPLES / "embedded.pcapng", tmp_path / "f", set(range(0, 200, 10)))
    found, _ = fed(tmp_path / "f", [[path] for path in sorted((tmp_path / "f").iterdir())])
    known: dict[int, str | None] = {}
    for each in of(found, "exchanges"):
        if known.setdefault(each["connection"], each["software"]) is None:
            known[each["connection"]] = each["software"]
        assert each["software"] == known[each["connection"]]
    assert any(known.values())


def test_connections_are_those_of_the_capture(tmp_path: Path) -> None:
    source = SAMPLES / "transactions.pcapng"
    rotated(source, tmp_path / "f", {10, 30, 50})
    found, _ = fed(tmp_path / "f", [[path] for path in sorted((tmp_path / "f").iterdir())])
    rows = of(found, "connections")
    events = [event for event in CaptureReader(source) if isinstance(event, Closed)]
    assert {(each["connection"], each["closed_ns"]) for each in rows if each["closed_ns"]} == {
        (event.connection, event.ts_ns) for event in events
    }
    assert all(each["whole"] for each in rows)
    assert [each["kind"] for each in of(found, "notes")].count("section") == 1


def test_a_segment_that_comes_late_is_waited_for_while_it_is_there(tmp_path: Path) -> None:
    one, two, three, _ = segments(tmp_path / "f", [b"a", b"b", b"c"])
    found, state = fed(tmp_path / "f", [[one, three]], end=False)
    assert [path for path, _ in state.waiting] == [three]
    assert not of(found, "errors")
    _, state = fed(tmp_path / "f", [[one, three], [two]], end=False)
    assert not state.waiting
    assert state.reader is not None
    assert state.reader.last is not None
    assert state.reader.last.number == 3


def test_a_segment_that_is_nowhere_is_missing(tmp_path: Path) -> None:
    one, two, three, four = segments(tmp_path / "f", [b"a", b"b", b"c"])
    two.unlink()
    found, state = fed(tmp_path / "f", [[one, three], [four]])
    assert not state.waiting
    errors = [(each["kind"], each["reason"]) for each in of(found, "errors")]
    assert ("missing", "segment 2 of the capture is not there") in errors
    assert ("gap", "1 bytes are missing") in errors


def test_another_capture_ends_the_one_before(tmp_path: Path) -> None:
    first = segments(tmp_path / "f", [b"a"], capture="7a")
    second = [path for path in segments(tmp_path / "f", [b"b"], capture="5f") if path not in first]
    batches = [[first[0]], [second[0]], [first[1], second[1]]]
    found, state = fed(tmp_path / "f", batches, end=False)
    assert [each["capture"].rpartition(" ")[2] for each in of(found, "connections")] == ["7a", "5f"]
    assert state.done == {"7a"}


def test_what_is_no_segment_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.pcapng"
    text.write_bytes(b"this is no capture")
    found, _ = fed(tmp_path, [[text, SAMPLES / "embedded.pcapng"]])
    assert [each["kind"] for each in of(found, "errors")] == ["refused", "refused"]


def test_a_segment_is_read_once(tmp_path: Path) -> None:
    files = segments(tmp_path / "f", [b"a", b"b"])
    found, _ = fed(tmp_path / "f", [files[:2], files[:1]], end=False)
    [error] = of(found, "errors")
    assert error["reason"] == "later segments were read already"


def test_a_damaged_segment_is_an_error_and_the_next_one_is_read(tmp_path: Path) -> None:
    files = segments(tmp_path / "f", [b"a" * 100, b"b", b"c"])
    data = bytearray(files[0].read_bytes())
    data[-40:] = b"\xff" * 40
    files[0].write_bytes(data)
    found, state = fed(tmp_path / "f", [files])
    assert "corrupt" in {each["kind"] for each in of(found, "errors")}
    assert state.reader is not None
    assert state.reader.last is not None
    assert state.reader.last.number == 4


@pytest.mark.parametrize("name", ["old-formats.pcap", "wrong.pcap", "midway.pcap"])
def test_files_of_tcpdump_one_by_one_are_the_capture_that_was_cut(
    tmp_path: Path, name: str
) -> None:
    files = split(SAMPLES / name, tmp_path / "f", 10)
    found, state = fed(tmp_path / "f", [[path] for path in files])
    conversations = Conversations(inferred=True, strays=True)
    exchanges = conversations.exchanges(CaptureReader(SAMPLES / name))
    right = [each.row(("connection", "api", "correlation_id", "error")) for each in exchanges]
    rows = [{at: each[at] for at in right[0]} for each in of(found, "exchanges")]
    assert sorted(rows, key=str) == sorted(right, key=str)
    assert {each["capture"] for each in of(found, "exchanges")} == {"seg.pcap"}
    assert not [each for each in of(found, "errors") if each["kind"] in ("refused", "missing")]
    assert [each["files"] for each in of(found, "quality")] == [1] * len(files)
    assert state.reader is not None


def test_tls_of_other_tools_is_left_out(tmp_path: Path) -> None:
    with CaptureFile(SAMPLES / "tls.pcapng") as file:
        packets = [block for block in file.blocks() if isinstance(block, Packet)]
    data = [packet.data for packet in packets]
    source = write_pcap(tmp_path / "tls.pcap", data, packets[0].linktype)
    files = split(source, tmp_path / "f", 3)
    found, _ = fed(tmp_path / "f", [[path] for path in files])
    assert of(found, "quality")
    assert not of(found, "exchanges")


def test_files_of_tcpdump_and_of_a_proxy_are_captures_of_their_own(tmp_path: Path) -> None:
    ours = segments(tmp_path / "f", [b"a"], capture="7a")
    others = split(SAMPLES / "wrong.pcap", tmp_path / "f", 100)
    found, _ = fed(tmp_path / "f", [[others[0]], [ours[0], others[1]], [ours[1]]])
    captures = {each["capture"].rpartition(" ")[2] for each in of(found, "quality")}
    assert captures == {"seg.pcap", "7a"}
    assert not [each for each in of(found, "errors") if each["kind"] == "refused"]


def test_what_was_overwritten_meanwhile_is_reported(tmp_path: Path) -> None:
    gone = tmp_path / "ring.pcap0"
    (row,) = Following().batch([], set, [gone])
    assert row.row["reason"] == "overwritten or deleted before it was read"
    assert row.row["file"] == str(gone)
