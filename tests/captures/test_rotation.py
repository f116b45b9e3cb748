"""A capture in segments is read as the one file that it would have been."""

from __future__ import annotations

import errno
import os
import random
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from captures.conversations import Conversations
from captures.conversion.hiding import Hiding
from captures.conversion.rewriting import rewrite
from captures.conversion.selection import Selection
from captures.conversion.survey import Survey
from captures.events import Event
from captures.exchange import Exchange
from captures.masking import Masking
from captures.pcapng_writing import Buffer
from captures.reader import CaptureReader
from captures.rotation import Rotation, Segments
from captures.sink import Sink, Stats
from captures.writer import CaptureWriter
from tests.captures.test_writer import BROKER, CLIENT, LISTENER, LOCAL, NOW, begin, heard

SAMPLES = Path(__file__).parents[2] / "captures" / "samples"
OURS = ("faults.pcapng", "sasl.pcapng", "transactions.pcapng")
NAMED = "2d4e"


@cache
def seen(path: Path) -> list[Exchange]:
    return list(Conversations().exchanges(CaptureReader(path)))


def fingerprint(found: Iterable[Exchange]) -> list[tuple[Exchange, int, str]]:
    return [(exchange, exchange.ordinal, exchange.server_address) for exchange in found]


def rotated(source: Path, folder: Path, points: set[int]) -> int:
    """Write a capture again, with a new segment at these events; how many events there are."""
    masking = Masking.nothing() if hasattr(Masking, "nothing") else Masking()
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
    with CaptureWriter(
        folder, limit=None, meta=meta, rotation=Rotation(age=0), capture=NAMED
    ) as writer:
        rewrite(reader, events(reader, writer), survey, Hiding(masking, clean=True), writer)
    assert writer.stats.stopped is None
    assert not writer.stats.lost_packets
    return count


@pytest.mark.parametrize("name", OURS)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15, deadline=None
)
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


@pytest.mark.parametrize("name", OURS)
def test_a_segment_at_every_event(name: str, tmp_path: Path) -> None:
    count = rotated(SAMPLES / name, tmp_path / "f", set(range(10_000)))
    assert len(list((tmp_path / "f").iterdir())) > count // 2
    assert fingerprint(Conversations().exchanges(CaptureReader(tmp_path / "f"))) == fingerprint(
        seen(SAMPLES / name)
    )
