"""A capture that goes on in another segment says what is under way, and then reads as one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.frames import frames
from barnabas.captures.reader import CaptureReader
from barnabas.captures.writing.rotation import Rotation
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.proxy.connection.snapshot import snapshot
from barnabas.specs.frames import Direction
from tests.proxy.connection.test_header_walk import in_slices
from tests.proxy.frames import Chunks, heartbeat_request, request, response, trailing, whole
from tests.proxy.playbook import Stage
from tests.proxy.recorded import Recorded
from tests.proxy.test_masked_capture import PLAIN, SLOW


def segments(path: Path) -> CaptureWriter:
    return CaptureWriter(path, limit=None, meta={}, rotation=Rotation(age=0), capture="5f")


class Rotated(Recorded):
    """A connection whose capture has a new segment before the chunks of these numbers."""

    def __init__(self, stage: Stage, folder: Path, points: Sequence[int] = ()) -> None:
        super().__init__(stage, folder, write=segments)
        self.points = set(points)
        self.chunks = 0

    def feed(self, direction: Direction, data: bytes, chunks: Chunks = whole) -> None:
        def counted(data: bytes) -> Iterator[bytes]:
            for chunk in chunks(data):
                if self.chunks in self.points:
                    self.writer.look(self.stage.now)
                self.chunks += 1
                if self.flow.behind:
                    self.flow.go_on(self.stage.now, partial(snapshot, self.connection))
                yield chunk

        super().feed(direction, data, counted)


def long_heartbeat(number: int) -> bytes:
    return heartbeat_request(number, member_id="m" * 40)


def play(actor: Recorded, chunks: Chunks) -> None:
    """Pipelined requests, secrets, and what leaves late."""
    actor.ask(request("SaslHandshake", 1, mechanism="PLAIN") + long_heartbeat(2), chunks)
    actor.answer(response("SaslHandshake", 1, mechanisms=["PLAIN"]), chunks)
    actor.ask(request("SaslAuthenticate", 3, auth_bytes=PLAIN) + long_heartbeat(4), chunks)
    actor.stage.wait(6)
    actor.answer(response("Heartbeat", 2), chunks)
    actor.ask(long_heartbeat(5) + long_heartbeat(6), chunks)
    actor.answer(response("SaslAuthenticate", 3) + response("Heartbeat", 4), chunks)
    actor.stage.wait(12)
    actor.answer(response("Heartbeat", 5) + response("Heartbeat", 6), chunks)
    actor.ask(long_heartbeat(7), chunks)
    actor.answer(response("Heartbeat", 7), chunks)
    actor.finish()


def exchanges(*paths: Path) -> list[Exchange]:
    return list(Conversations().exchanges(CaptureReader(*paths)))


def mark(one: Exchange) -> tuple[int, int, str | None, bytes | None, bytes | None]:
    return one.ordinal, one.correlation_id, one.user, one.request_body, one.response_body


WAYS = pytest.mark.parametrize(
    "chunks", [whole, trailing, in_slices([23])], ids=["whole", "trailing", "23"]
)
SCENARIOS = pytest.mark.parametrize("scenario", ["", SLOW], ids=["", "late"])
OBSERVED = pytest.mark.parametrize("observed", [True, False], ids=["log", "no log"])


@WAYS
@SCENARIOS
@OBSERVED
@settings(max_examples=10)
@given(points=st.sets(st.integers(0, 60), min_size=1, max_size=8))
def test_segments_tell_what_one_file_tells(
    tmp_path_factory: pytest.TempPathFactory,
    chunks: Chunks,
    scenario: str,
    observed: bool,
    points: set[int],
) -> None:
    folder = tmp_path_factory.mktemp("run") / "f"
    one = Recorded(Stage(scenario, observed=observed), folder.with_suffix(".pcapng"))
    play(one, chunks)
    several = Rotated(Stage(scenario, observed=observed), folder, sorted(points))
    play(several, chunks)
    assert several.sent == one.sent
    expected = exchanges(one.path)
    assert exchanges(folder) == expected
    assert [seen.ordinal for seen in frames(CaptureReader(folder))] == [
        seen.ordinal for seen in frames(CaptureReader(one.path))
    ]
    known = {mark(exchange) for exchange in expected}
    for path in folder.iterdir():
        for found in exchanges(path):
            if found.response_body is not None:
                assert mark(found) in known


def test_a_segment_alone_knows_whom_the_certificate_names(tmp_path: Path) -> None:
    actor = Rotated(Stage(), tmp_path / "f")
    actor.connection.state.certified = "CN=alice"
    for number in range(2):
        actor.writer.look(actor.stage.now)
        actor.ask(long_heartbeat(number))
        actor.answer(response("Heartbeat", number))
    actor.finish()
    *_, last = sorted(actor.path.iterdir())
    assert [(one.correlation_id, one.user) for one in exchanges(last)] == [(1, "CN=alice")]


@WAYS
@OBSERVED
def test_a_segment_alone_has_all_exchanges_that_are_whole_in_it(
    tmp_path: Path, chunks: Chunks, observed: bool
) -> None:
    actor = Rotated(Stage(observed=observed), tmp_path / "f")
    asked = 0
    for _ in range(5):
        for _ in range(3):
            asked += 1
            actor.ask(long_heartbeat(asked), chunks)
        actor.answer(response("Heartbeat", asked - 2), chunks)
        actor.writer.look(actor.stage.now)
        actor.ask(long_heartbeat(asked + 1)[:50], chunks)
        actor.writer.look(actor.stage.now)
        actor.ask(long_heartbeat(asked + 1)[50:], chunks)
        asked += 1
        for number in range(asked - 2, asked + 1):
            actor.answer(response("Heartbeat", number), chunks)
    actor.finish()
    found = []
    for path in sorted(actor.path.iterdir()):
        conversations = Conversations()
        reader = CaptureReader(path)
        alone = list(conversations.exchanges(reader))
        whole_here = [one.correlation_id for one in alone if one.response_size is not None]
        found.append((whole_here, conversations.earlier, conversations.losses))
        assert conversations.skipped == conversations.undecoded == 0
    cut: tuple[list[int], int, int] = ([], 0, 0)
    then = [each for number in (5, 9, 13, 17) for each in (([number], 3, 0), cut)]
    assert found == [([1], 0, 0), cut, *then, ([], 3, 0)]
