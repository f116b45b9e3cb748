"""Open capture files and read them as one capture, down to exchanges and their context.

`CaptureReader` yields connection events, `Conversations` builds exchanges from them, and `Context` collects
what exchanges reveal about later ones.
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
"""A context manager factory for progress: takes the total bytes; the entered function takes the bytes read so
far."""


class Unreadable(Exception):
    """An error of one line: which capture can't be opened, and the reason."""


class Capture:
    """One or several captures, opened and read as one. Reading raises CaptureError for damage."""

    def __init__(self, reader: CaptureReader, context: Context) -> None:
        self.reader = reader
        self.context = context
        """Facts learned so far, from the metadata of a slice and from exchanges."""
        self.conversations = Conversations()
        """The connections of the latest reading, with their counts."""
        self.undecoded = 0
        """Frames of the latest reading without a known schema or without a request."""
        self.name = _named(reader.given)
        """The names of the given files and folders; of more than three, the first name and a count."""
        # the messages with these names may be left out of a slice
        context.topics.update(self.topics)
        nodes = reader.meta.get("brokers")
        if isinstance(nodes, dict):
            context.brokers.recall({a: node for a, node in nodes.items() if type(node) is int})

    @property
    def topics(self) -> dict[uuid.UUID, str]:
        """Return the topic names, by topic id, in the metadata of a slice."""
        return names_by_id(self.reader.meta.get("topics"))

    def dialect(self, name: str | None = None) -> Dialect | None:
        """Return the dialect with this name, or the dialect that the capture's scenario names.

        Args:
            name: A dialect; None: go by the scenario.

        Returns:
            None for Kafka's protocol.

        Raises:
            Unreadable: No dialect has this name.
        """
        try:
            return spoken_in(self.reader.meta) if name is None else dialect(name)
        except LookupError as problem:
            raise Unreadable(str(problem)) from None

    def events(self, progress: Progress | None = None) -> Iterator[Event]:
        """Yield connections and the bytes of their flows."""
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
        """Yield the exchanges, each when it ends.

        Args:
            progress: Reports the bytes read.
            inferred: See `Conversations`.
            strays: See `Conversations`.
            spoken: The dialect of the connections; None: Kafka's protocol.
        """
        self.conversations = Conversations(inferred=inferred, strays=strays)
        source = self.conversations if spoken is None else DialectConversations(spoken)
        yield from source.exchanges(self.events(progress))
        self.undecoded = source.undecoded

    def learn(self, exchanges: Iterator[Exchange]) -> Iterator[Exchange]:
        """Yield each exchange after the context has learned from it.

        Sets the exchange's broker where only addresses identify it.
        """
        for exchange in exchanges:
            self.learn_from(exchange)
            yield exchange

    def learn_from(self, exchange: Exchange) -> None:
        """Let the context learn from one exchange, and set its broker if only addresses identify it."""
        self.context.learn(exchange)
        if not self.reader.says_brokers:
            exchange.broker = self.context.brokers.node(exchange)


_NAMES: Final = 3
"""Most files that are listed by name; of more, only the first is."""


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
    """Open files and folders as one capture.

    Args:
        paths: Files and folders.
        keys: TLS secrets.
        context: Facts known before the first exchange.
        growth: See `CaptureReader`.

    Raises:
        Unreadable: A file can't be read, or is not a capture.
    """
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
    """Return the dialect that the scenario in a section's metadata names.

    None stands for Kafka's protocol. Raises LookupError for an unknown dialect.
    """
    scenario = meta.get("scenario")
    try:
        document = yaml.safe_load(scenario) if isinstance(scenario, str) else None
    except (yaml.YAMLError, ValueError, RecursionError):  # a date of month 13 is a ValueError
        return None
    name = document.get("dialect") if isinstance(document, dict) else None
    return dialect(name) if isinstance(name, str) else None
