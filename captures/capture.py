"""Opens capture files and reads them as one, down to their exchanges with the context of each.

`CaptureReader` brings the bytes, `Conversations` makes exchanges of them, `Context` is what they teach.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import yaml

from barnabas.captures.files.capture_folder import size_of
from barnabas.captures.files.growth import Growth
from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.id_names import names_by_id
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.dialect_conversations import DialectConversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Event
from barnabas.captures.tls.keylog import KeyLog
from barnabas.specs.dialects import Dialect, dialect

Progress = Callable[[int], AbstractContextManager[Callable[[int], None]]]
"""Given how many bytes are to be read; while it is entered it is told how many were."""


class Unreadable(Exception):
    """Says in a line which capture can't be opened, and why."""


class Capture:
    """Captures that were opened, read as one. Whatever reads on raises CaptureError for damage."""

    def __init__(self, reader: CaptureReader, context: Context) -> None:
        self.reader = reader
        self.context = context
        """What was learnt so far, from a slice's own words and from exchanges."""
        self.conversations = Conversations()
        """Of the latest reading, with what it has counted."""
        self.undecoded = 0
        """Frames of the latest reading that no schema reads, or that nobody asked for."""
        self.name = _named(reader.given)
        """The names of what was given: files and folders; of many the first."""
        # what said it may be left out of a slice
        context.topics.update(self.topics)
        nodes = reader.meta.get("brokers")
        if isinstance(nodes, dict):
            context.brokers.recall({a: node for a, node in nodes.items() if type(node) is int})

    @property
    def topics(self) -> dict[uuid.UUID, str]:
        """Names by id that stand in a slice's own words."""
        return names_by_id(self.reader.meta.get("topics"))

    def dialect(self, name: str | None = None) -> Dialect | None:
        """Return the dialect of this name, or else the one that the scenario names; None: Kafka's protocol.

        Raises Unreadable if no dialect has the name.
        """
        try:
            return spoken_in(self.reader.meta) if name is None else dialect(name)
        except LookupError as problem:
            raise Unreadable(str(problem)) from None

    def events(self, progress: Progress | None = None) -> Iterator[Event]:
        """Connections and the bytes of their flows."""
        if progress is None:
            yield from self.reader
            return
        with progress(sum(map(size_of, self.reader.paths))) as read:
            for event in self.reader:
                yield event
                read(self.reader.position)

    def exchanges(
        self,
        progress: Progress | None = None,
        *,
        inferred: bool = False,
        strays: bool = False,
        spoken: Dialect | None = None,
    ) -> Iterator[Exchange]:
        """Yield the exchanges, each when it is over.

        inferred, strays: see `Conversations`. spoken: see `dialect`.
        """
        self.conversations = Conversations(inferred=inferred, strays=strays)
        source = self.conversations if spoken is None else DialectConversations(spoken)
        yield from source.exchanges(self.events(progress))
        self.undecoded = source.undecoded

    def learn(self, exchanges: Iterator[Exchange]) -> Iterator[Exchange]:
        """The same exchanges once the context knows each, with their brokers where only addresses tell."""
        for exchange in exchanges:
            self.learn_from(exchange)
            yield exchange

    def learn_from(self, exchange: Exchange) -> None:
        """The same for one."""
        self.context.learn(exchange)
        if not self.reader.says_brokers:
            exchange.broker = self.context.brokers.node(exchange)


_NAMES: Final = 3
"""Files that are called by their names: of more the first is."""


def _named(paths: Sequence[Path]) -> str:
    if len(paths) > _NAMES:
        return f"{paths[0]} and {len(paths) - 1} more"
    return " and ".join(map(str, paths))


def open_capture(
    *paths: Path,
    keys: KeyLog | None = None,
    context: Context | None = None,
    growth: Growth | None = None,
) -> Capture:
    """Open files and folders to read them as one; `keys` are of TLS, growth: see `CaptureReader`. Raises
    Unreadable."""
    for path in paths:
        try:
            if path.exists() and not path.is_file() and not path.is_dir():
                raise Unreadable(
                    f"can't read the capture {path}: not a regular file; save it to a file first"
                )
            reader = CaptureReader(path, keys=keys, growth=growth)
        except OSError as problem:
            raise Unreadable(f"can't read the capture {path}: {problem.strerror}") from None
        except CaptureError as problem:
            raise Unreadable(f"{path} is not a capture: {problem}") from None
    if len(paths) != 1:
        reader = CaptureReader(*paths, keys=keys, growth=growth)
    return Capture(reader, context or Context())


def spoken_in(meta: dict[str, Any]) -> Dialect | None:
    """Return the dialect that the scenario of a section names; None: Kafka's protocol. Raises LookupError."""
    scenario = meta.get("scenario")
    try:
        document = yaml.safe_load(scenario) if isinstance(scenario, str) else None
    except (yaml.YAMLError, ValueError, RecursionError):  # a date of month 13 is a ValueError
        return None
    name = document.get("dialect") if isinstance(document, dict) else None
    return dialect(name) if isinstance(name, str) else None
