"""Test that a capture in segments is read like one file."""

from __future__ import annotations

import errno
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.captures.conversion.frame_masking import FrameMasking
from barnabas.captures.conversion.rewriter import rewrite
from barnabas.captures.conversion.selection import Selection
from barnabas.captures.conversion.survey import Survey
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from barnabas.captures.writing.masking import Masking
from barnabas.captures.writing.rotation import Rotation
from barnabas.captures.writing.writer import CaptureWriter
from tests.captures.writing.test_writer import NOW, begin
from tests.places import ROOT

SAMPLES = ROOT / "captures" / "samples"
OURS = ("faults.pcapng", "sasl.pcapng", "transactions.pcapng")
NAMED = "2d4e"


@cache
def seen(path: Path) -> list[Exchange]:
    return list(Conversations().exchanges(CaptureReader(path)))


def fingerprint(found: Iterable[Exchange]) -> list[tuple[Exchange, int, str]]:
    return [(exchange, exchange.ordinal, exchange.server_address) for exchange in found]


def rotated(source: Path, folder: Path, points: set[int]) -> int:
    """Write a capture again, with a new segment at these events; how many events there are."""
    masking = Masking()
    survey = Survey(Selection(), masking, None)
    survey.read(CaptureReader(source))
    count = 0

    def events(reader: CaptureReader, writer: CaptureWriter) -> Iterator[Event]:
        nonlocal count
        for event in reader:
            if count in points:
                writer.look(NOW)
            count += 1
            yield event

    reader = CaptureReader(source)
    meta = {**reader.meta}
    with writing(folder, meta=meta) as writer:
        rewrite(reader, events(reader, writer), survey, FrameMasking(masking, clean=True), writer)
    assert writer.stats.stopped is None
    assert not writer.stats.lost_packets
    return count


@pytest.mark.parametrize("name", OURS)
@settings(max_examples=15)
@given(st.sets(st.integers(0, 400), max_size=12), st.randoms(use_true_random=False))
def test_segments_in_any_order_give_the_exchanges_of_one_file(
    name: str, tmp_path_factory: pytest.TempPathFactory, points: set[int], chance: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("capture")
    rotated(SAMPLES / name, folder, points)
    whole = CaptureReader(SAMPLES / name)
    together = CaptureReader(folder)
    expected = fingerprint(seen(SAMPLES / name))
    assert fingerprint(Conversations().exchanges(together)) == expected
    list(whole)
    assert together.notes == whole.notes
    assert together.meta.items() >= whole.meta.items()
    files = sorted(folder.iterdir())
    chance.shuffle(files)
    assert fingerprint(Conversations().exchanges(CaptureReader(*files))) == expected


def writing(
    folder: Path, *, capture: str = NAMED, meta: dict[str, Any] | None = None, **rotation: Any
) -> CaptureWriter:
    """Return a capture in segments; by default, each look begins another one."""
    turns = Rotation(**(rotation if "size" in rotation else {"age": 0} | rotation))
    return CaptureWriter(folder, limit=None, meta=meta or {}, rotation=turns, capture=capture)


def segments(
    folder: Path, contents: list[bytes], *, keep: int | None = None, capture: str = NAMED
) -> list[Path]:
    """Write a connection with these requests, each in its own segment."""
    with writing(folder, keep=keep, capture=capture) as writer:
        flow = begin(writer)
        for data in contents:
            flow.arrived("request", data, NOW)
            writer.look(NOW)
        flow.close(NOW)
    return sorted(folder.iterdir())


def test_each_segment_is_a_file_that_says_what_it_is(tmp_path: Path) -> None:
    files = segments(tmp_path / "f", [b"one", b"two", b"three"])
    assert [path.name[-14:] for path in files] == [f"-{n:06}.pcapng" for n in (1, 2, 3, 4)]
    said = [CaptureReader(path).meta["segment"] for path in files]
    assert said == [{"capture": NAMED, "number": number} for number in (1, 2, 3, 4)]
    [(place, side)] = heard_alone(files[1])
    assert (place, side) == ((1, "arrived", "request"), b"two")
    assert files[0].stat().st_mode & 0o777 == 0o600
    assert files[0].parent.stat().st_mode & 0o777 == 0o700


def heard_alone(path: Path) -> list[tuple[tuple[int, str, str], bytes]]:
    found: dict[tuple[int, str, str], bytes] = {}
    for event in CaptureReader(path):
        if isinstance(event, Chunk):
            place = (event.connection, event.flow, event.direction)
            found[place] = found.get(place, b"") + event.data
    return list(found.items())


def test_a_missing_segment_is_a_gap_that_is_counted(tmp_path: Path) -> None:
    one, _, three, four, five = segments(tmp_path / "f", [b"one", b"two", b"three", b"four"])
    reader = CaptureReader(one, three, five, four)
    events = [event for event in reader if not isinstance(event, Opened | Closed)]
    assert events == [
        Chunk(1, "arrived", "request", NOW, b"one", (), 5),
        Lost(0, "arrived", "request", 0, 0),
        Lost(1, "arrived", "request", NOW, 3),
        Chunk(1, "arrived", "request", NOW, b"three", (), 7),
        Chunk(1, "arrived", "request", NOW, b"four", (), 9),
    ]
    assert reader.missing == {NAMED: [2]}
    conversations = Conversations()
    list(conversations.exchanges(CaptureReader(one, three)))
    assert conversations.losses == 2


@pytest.mark.parametrize("first", [0, 1])
def test_segments_that_make_room_while_their_folder_is_read_cost_themselves_only(
    tmp_path: Path, first: int
) -> None:
    said = [b"one", b"two", b"three", b"four"]
    files = segments(tmp_path / "f", said)
    reader = CaptureReader(tmp_path / "f")
    for path in files[first:2]:
        path.unlink()
    chunks = [event.data for event in reader if isinstance(event, Chunk)]
    assert chunks == said[:first] + said[2:]
    assert reader.missing == {NAMED: [1, 2][first:]}


def test_a_segment_ends_when_it_is_old_and_not_empty(tmp_path: Path) -> None:
    folder, old = tmp_path / "f", 1000
    with writing(folder, age=old) as it:
        it.look(NOW)
        it.look(NOW + old)
        assert len(list(folder.iterdir())) == 1  # there is nothing in it
        flow = begin(it)
        flow.arrived("request", b"1", NOW)
        it.look(NOW + 2 * old)
        flow.arrived("request", b"2", NOW)
        it.look(NOW + 3 * old - 1)
        flow.arrived("request", b"3", NOW)
        it.look(NOW + 3 * old)
        flow.arrived("request", b"4", NOW)
    heard_in = [dict(heard_alone(path)) for path in sorted(folder.iterdir())]
    assert [found[1, "arrived", "request"] for found in heard_in] == [b"1", b"23", b"4"]


def test_the_age_of_a_segment_counts_from_its_own_beginning(tmp_path: Path) -> None:
    with writing(tmp_path / "f", size=1000, age=1000) as it:
        it.look(NOW)
        flow = begin(it)
        flow.arrived("request", bytes(1000), NOW)
        flow.arrived("request", b"1", NOW)
        it.look(NOW + 900)
        it.look(NOW + 1899)
        flow.arrived("request", b"2", NOW)
        it.look(NOW + 1900)
        flow.arrived("request", b"3", NOW)
    heard_in = [dict(heard_alone(path)) for path in sorted((tmp_path / "f").iterdir())]
    assert [found[1, "arrived", "request"] for found in heard_in] == [bytes(1000), b"12", b"3"]


def test_the_latest_segments_are_kept(tmp_path: Path) -> None:
    files = segments(tmp_path / "f", [b"1", b"2", b"3", b"4"], keep=2)
    assert [path.name[-14:-7] for path in files] == ["-000004", "-000005"]
    reader = CaptureReader(tmp_path / "f")
    assert [event.data for event in reader if isinstance(event, Chunk)] == [b"4"]
    assert reader.missing == {NAMED: [1, 2, 3]}


def test_the_scenario_of_a_segment_is_the_one_that_holds(tmp_path: Path) -> None:
    folder, listener = tmp_path / "f", {"barnabas": "listener", "port": 1}
    with writing(folder, meta={"scenario": "first", "began": 1}) as writer:
        writer.note(NOW, listener)
        writer.note(NOW + 1, {"barnabas": "scenario", "by": "me", "scenario": "second", "seed": 3})
        writer.look(NOW)
        writer.note(NOW + 2, {"other": 1})
    first, second = map(CaptureReader, sorted(folder.iterdir()))
    assert (first.meta["scenario"], first.meta["began"]) == ("first", 1)
    assert second.meta.items() >= {"scenario": "second", "seed": 3, "began": NOW + 1}.items()
    list(second)
    assert [note.comment for note in second.notes] == [listener, {"other": 1}]
    together = CaptureReader(folder)
    list(together)
    assert len(together.notes) == 3


def test_only_one_writes_to_a_folder(tmp_path: Path) -> None:
    with writing(tmp_path, capture="5f"):
        with pytest.raises(OSError, match="another proxy is writing there") as found:
            writing(tmp_path, capture="60")
        assert found.value.errno == errno.EBUSY
        assert len(list(tmp_path.iterdir())) == 1


def test_what_a_killed_writer_left_gets_its_name_and_stays(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from barnabas.captures.writing.flow_headers import HANDSHAKE\n"
        "from tests.captures.writing.disk import await_until\n"
        "from tests.captures.writing.test_rotation import *\n"
        "writer = CaptureWriter(Path(sys.argv[1]), limit=None, meta={}, rotation=Rotation(age=0))\n"
        "begin(writer).arrived('request', b'abc', NOW)\n"
        "await_until(lambda: writer.stats.packets == HANDSHAKE + 1)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path], cwd=ROOT, check=False, timeout=60)
    [part] = tmp_path.iterdir()
    assert part.suffix == ".part"
    left = part.read_bytes()
    nothing = tmp_path / part.name.replace("1.", "2.")
    assert nothing != part
    nothing.touch()
    segments(tmp_path, [b"def"])
    assert part.with_suffix("").read_bytes() == left
    assert not list(tmp_path.glob("*.part"))
    found = [event.data for event in CaptureReader(tmp_path) if isinstance(event, Chunk)]
    assert found == [b"abc", b"def"]
