"""An experiment: a question, the function that measures, and the functions that write the result."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

Measured = dict[str, Any]
"""The measurements as JSON: all that `write` needs, so that a result can be written again."""
QUIET: Final = "version: 1\nrules: []\n"
"""The scenario of a proxy that changes nothing."""


class Between(Protocol):
    """A proxy in a process of its own."""

    bootstrap_server: str
    """HOST:PORT for clients."""
    capture: Path
    """The capture of the proxy's traffic, complete after its end."""


def address_of(proxy: Between) -> tuple[str, int]:
    """Return the host and port where clients reach a proxy."""
    host, port = proxy.bootstrap_server.rsplit(":", 1)
    return host, int(port)


Proxy = Callable[[str, str, Path], AbstractContextManager[Between]]
"""Bootstrap servers, a scenario's text and an empty folder -> a proxy, from `with` to its end."""


class Bench(NamedTuple):
    """The environment of a run: proxies, a folder, the length of the run, and a display of progress."""

    proxy: Proxy
    folder: Path
    short: bool
    """Fewer repetitions and arms: to see that it works, not to conclude anything."""
    step: Callable[[int, int, str], None]
    """Reports progress: steps done, total, and the next step."""

    def settings(self, short: Mapping[str, Any], **full: Any) -> dict[str, Any]:
        """Return the settings of a full run, or those with the changes of a short run."""
        return full | (dict(short) if self.short else {})

    def counter(self, total: int) -> Callable[[str], None]:
        """Return a function that reports the next of `total` steps, by its description."""
        numbers = itertools.count()
        return lambda description: self.step(next(numbers), total, description)

    @contextmanager
    def between(self, servers: str, scenario: str, name: str) -> Iterator[Between]:
        """Run a proxy with a scenario, in a new folder of this name.

        Args:
            servers: The brokers' bootstrap servers.
            scenario: The scenario's text.
            name: The folder's name; spaces become hyphens.
        """
        folder = self.folder / name.replace(" ", "-")
        folder.mkdir()
        with self.proxy(servers, scenario, folder) as proxy:
            yield proxy


def no_plots(_: Measured) -> dict[str, str]:
    """Return no plots: for an experiment with tables only."""
    return {}


class Experiment(NamedTuple):
    """A question, and the functions that measure and write the answer."""

    question: str
    versions: tuple[str, ...]
    """Versions of Apache Kafka; empty if only peers of this project take part."""
    run: Callable[[Bench], Measured]
    write: Callable[[Measured], str]
    """Writes Markdown from the measurements. Pure."""
    plots: Callable[[Measured], dict[str, str]] = no_plots
    """Draws SVG from the measurements, by name: NAME-PLOT.svg stands next to the Markdown. Pure."""
