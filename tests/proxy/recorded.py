"""A connection of a playbook with a capture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk
from barnabas.captures.writing.masked_flow import MaskedFlow
from barnabas.captures.writing.masking import Masking
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.proxy.connection.actions import NOTHING, PASS, Actions, Cut, Departure, Hide
from barnabas.proxy.rules.plan import Plan
from barnabas.specs.frames import Direction
from tests.proxy.playbook import Actor, Stage

MASKING: Final = Masking()


def one_file(path: Path) -> CaptureWriter:
    """Write a capture of one file."""
    return CaptureWriter(path, limit=None, meta={})


class Recorded(Actor):
    """A connection with a capture, as the relay writes it."""

    def __init__(
        self,
        stage: Stage,
        path: Path,
        masking: Masking = MASKING,
        write: Callable[[Path], CaptureWriter] = one_file,
    ) -> None:
        stage.plan = Plan(stage.rules, hides=masking.hides, quotes=masking.key is None)
        super().__init__(stage, 1, 1)
        stage.actors.append(self)
        self.path = path
        self.writer = write(path)
        here = ("127.0.0.1", 1)
        comment = {"client": "client:1", "broker": 1}
        flow = self.writer.open(1, here, ("127.0.0.1", 2), stage.now, comment)
        self.flow = MaskedFlow(flow, masking)
        self.flow.upstream(here, ("127.0.0.1", 3))

    def perform(
        self, actions: Actions, direction: Direction = "request", chunk: memoryview | None = None
    ) -> None:
        now = self.stage.now
        if actions is PASS:
            assert chunk is not None
            self.flow.arrived(direction, chunk, now)
        elif actions is NOTHING and chunk is not None:
            self.flow.unread(direction, len(chunk), now)
        elif chunk is not None:
            cuts = [(one.offset, one.comment) for one in actions if isinstance(one, Cut)]
            hidden = [one.frame for one in actions if isinstance(one, Hide)]
            rest = self.connection.undecided(direction)
            self.flow.took(direction, chunk, now, cuts, hidden, rest)
        for action in actions:
            if isinstance(action, Departure):
                way, data, comment, key, version = action
                self.flow.left(way, data, now, comment, key, version)
        super().perform(actions, direction, chunk)

    def finish(self) -> bytes:
        """Return the bytes of the capture, if it is one file."""
        self.close()
        self.flow.close(self.stage.now)
        self.writer.close()
        return self.path.read_bytes() if self.path.is_file() else b""

    def decoded(self) -> list[Exchange]:
        return list(Conversations().exchanges(CaptureReader(self.path)))

    def arrived(self, direction: Direction) -> bytes:
        return b"".join(
            event.data
            for event in CaptureReader(self.path)
            if isinstance(event, Chunk) and (event.flow, event.direction) == ("arrived", direction)
        )
