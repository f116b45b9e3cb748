"""An experiment: its question, how it is run, and how its result is written."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

Measured = dict[str, Any]
"""What was observed, as JSON has it: all that `write` needs, so that a result can be written again."""


class Between(Protocol):
    """A proxy in a process of its own."""

    bootstrap_server: str
    """HOST:PORT for clients."""
    capture: Path
    """What passed; whole when the proxy has stopped."""


def address_of(proxy: Between) -> tuple[str, int]:
    """Return the host and port where clients reach a proxy."""
    host, port = proxy.bootstrap_server.rsplit(":", 1)
    return host, int(port)


Proxy = Callable[[str, str, Path], AbstractContextManager[Between]]
"""Bootstrap servers, a scenario's text and an empty folder -> a proxy, from `with` to its end."""


class Bench(NamedTuple):
    """What an experiment gets. step: is told how far it is (done, of how many, what)."""

    proxy: Proxy
    folder: Path
    short: bool
    """Fewer repetitions and arms: to see that it works, not to conclude anything."""
    step: Callable[[int, int, str], None]


def no_plots(_: Measured) -> dict[str, str]:
    """Of an experiment whose tables say it all."""
    return {}


class Experiment(NamedTuple):
    """versions: of Apache Kafka; none if only peers of this project take part.

    write: a pure function from what was measured to Markdown. plots: one to SVG
    (`barnabas.experiments.plots`) by name; NAME-PLOT.svg stands next to the Markdown, which shows them in the
    end.
    """

    question: str
    versions: tuple[str, ...]
    run: Callable[[Bench], Measured]
    write: Callable[[Measured], str]
    plots: Callable[[Measured], dict[str, str]] = no_plots
