"""What the command line asked of `barnabas proxy`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from barnabas.captures.writing.rotation import Rotation
from barnabas.cli.console.output import Output
from barnabas.proxy.control.reload import ScenarioFile
from barnabas.proxy.network.options import Options
from barnabas.proxy.scenario.file import Scenario
from barnabas.proxy.topic_names.names import TopicNames

KEPT: Final = 10_000
"""Exchanges that the page holds unless told otherwise."""

Log = Literal["pretty", "json", "off"]


@dataclass(frozen=True, slots=True)
class Control:
    """The control port: where it listens, and the file that is to hold its token."""

    address: tuple[str, int]
    token_file: Path | None = None
    page: int | None = None
    """It serves the page too, which holds so many exchanges."""


@dataclass(frozen=True, slots=True)
class Job:
    """What the command line asked for."""

    options: Options
    scenario: Scenario | None = None
    scenario_file: ScenarioFile | None = None
    """Where the scenario is from: it is loaded again when that changes."""
    control: Control | None = None
    capture: Path | None = None
    capture_limit: int | None = None
    rotation: Rotation | None = None
    """The capture is a folder of segments."""
    log: Log = "pretty"
    otlp: str | None = None
    """Where a span of each exchange goes, which a reader of the live stream sends."""
    log_waits: bool = False
    """Whether traffic waits for the log, so that it has every exchange."""
    output: Output = field(default_factory=Output)
    topics: TopicNames = field(default_factory=TopicNames)
    """Names of topics: for the rules, and for the output's context."""
    workers: int = 1
    """Processes that carry traffic."""
    began: Callable[[str], None] = lambda _: None
    """Told where clients connect, as soon as they may."""

    @property
    def followed(self) -> bool:
        """Whether somebody wants the exchanges of the live stream."""
        return self.log != "off" or self.otlp is not None

    @property
    def supervised(self) -> bool:
        """Whether traffic is in processes of its own: several, or one beside the control port, which would
        share the interpreter with it."""
        return self.workers > 1 or self.control is not None
