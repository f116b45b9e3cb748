"""`barnabas conform`: its options."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from barnabas.broker_kinds import STARTABLE
from barnabas.cli.proxy.tls_options import BrokerTls
from barnabas.cli.replay.options import SaslOptions
from barnabas.peers.ownership import OPTION


class CountedLevel(StrEnum):
    """Which failures count for the exit code."""

    MUST = "must"
    SHOULD = "should"
    INFO = "info"


@dataclass(frozen=True, kw_only=True)
class ConformOptions:
    """All options of `barnabas conform`."""

    target: Annotated[
        str | None,
        typer.Argument(
            metavar="HOST:PORT", help="The broker; `show NAME` prints a check.", show_default=False
        ),
    ] = None
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The check of `show`.", hidden=True)
    ] = None
    only: Annotated[
        list[str],
        typer.Option(
            metavar="PATTERN[,...]",
            help="Run only these checks: an area, a name or a glob; repeatable.",
        ),
    ] = field(default_factory=list)
    kip: Annotated[
        str | None, typer.Option(metavar="N", help="Run only the checks whose source is this KIP.")
    ] = None
    list_checks: Annotated[
        bool, typer.Option("--list", help="List the checks and what each requires.")
    ] = False
    level: Annotated[
        CountedLevel,
        typer.Option(case_sensitive=False, help="Which failures make the exit code 1."),
    ] = CountedLevel.MUST
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="YAML of known failures (name: reason); only new ones count."
        ),
    ] = None
    restart: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Restarts the broker if it no longer answers."),
    ] = None
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Checks that run at once.")] = 8
    as_json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the results as JSON.")
    ] = None
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the results as JUnit's XML.")
    ] = None
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the results as an HTML page.")
    ] = None
    capture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write all connections to a pcapng file; failures name their packets.",
        ),
    ] = None
    against: Annotated[
        str | None,
        typer.Option(
            metavar="KIND|HOST:PORT",
            help="Run the checks on another broker, too, and show how the responses differ: "
            f"{STARTABLE}, or an address.",
        ),
    ] = None
    own: Annotated[
        bool, typer.Option(OPTION, help="Allow a broker on another machine: you own it.")
    ] = False
    tls: BrokerTls = field(default_factory=BrokerTls)
    sasl: SaslOptions = field(default_factory=SaslOptions)
