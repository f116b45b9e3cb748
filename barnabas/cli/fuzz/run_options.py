"""The options of `barnabas fuzz run`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import typer

from barnabas.cli.console.options import JsonLines, SparkOptions
from barnabas.cli.fuzz.options import Own
from barnabas.trouble import Trouble


def parse_broker_setting(text: str) -> tuple[str, str]:
    """Parse NAME=VALUE of a line of server.properties.

    >>> parse_broker_setting("a.b=c=d")
    ('a.b', 'c=d')
    """
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise Trouble(f"--broker-setting {text}: expected NAME=VALUE")
    return name, value


@dataclass(frozen=True, kw_only=True)
class ApacheOptions:
    """Options for brokers of Apache Kafka that a campaign starts."""

    PANEL: ClassVar = "Targets of the kind apache"

    listener: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Listener for the cases: plaintext, or sasl_plaintext, where connections log in "
            "first.",
        ),
    ] = None
    mechanism: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="SASL mechanism of these logins: PLAIN (default), SCRAM-SHA-256 or SCRAM-SHA-512.",
        ),
    ] = None
    broker_setting: Annotated[
        list[tuple[str, str]],
        typer.Option(
            "--broker-setting",
            metavar="NAME=VALUE",
            help="A line of server.properties. May be repeated.",
            parser=parse_broker_setting,
        ),
    ] = field(default_factory=list)
    jvm: Annotated[
        list[str],
        typer.Option(
            "--jvm",
            metavar="OPTION",
            help="An option of the broker's JVM, such as --jvm=-Xmx512m. May be repeated.",
        ),
    ] = field(default_factory=list)

    @property
    def settings(self) -> dict[str, Any]:
        """Return the given settings by the names of their fields in `ApacheSettings`."""
        settings = {
            "listener": self.listener,
            "mechanism": self.mechanism,
            "jvm": tuple(self.jvm),
            "settings": dict(self.broker_setting),
        }
        return {name: value for name, value in settings.items() if value}


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """All options of `barnabas fuzz run`."""

    campaign: Annotated[
        Path,
        typer.Argument(
            metavar="CAMPAIGN", help="A campaign file, or a name of `barnabas fuzz list`."
        ),
    ]
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="KIND[:WHICH]",
            help="Target instead of the file's; 'A vs B' compares two.",
        ),
    ] = None
    apache: ApacheOptions = field(default_factory=ApacheOptions)
    cases: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Stop after this many cases in total.")
    ] = None
    seconds: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Stop after this time, preparation included, when the current case ends. If there are "
            "findings, the last fifth (at most 30 s) is for shrinking.",
        ),
    ] = None
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed instead of the file's.")] = (
        None
    )
    db: Annotated[
        Path | None,
        typer.Option(
            "--db",
            metavar="FILE",
            help="Database of findings and progress; the same command continues there.",
            show_default="CAMPAIGN.fuzz.db here",
        ),
    ] = None
    shrink: Annotated[
        int, typer.Option(min=0, metavar="N", help="Runs to shrink each finding; 0: do not shrink.")
    ] = 100
    without: Annotated[
        list[str],
        typer.Option(
            metavar="FINDING",
            help="Exclude the API, versions, field and mutator of this finding in the database, "
            "to see what it hides; repeatable. Starts a new campaign.",
        ),
    ] = field(default_factory=list)
    count_lines: Annotated[
        bool,
        typer.Option(
            "--coverage",
            help="Count the lines that cases reach in the target (apache, and most clients), for "
            "the report. Sends valid messages first; takes minutes longer.",
        ),
    ] = False
    feedback: Annotated[
        bool,
        typer.Option(
            "--coverage-feedback",
            help="Like --coverage, and every 200 cases or more, prefer messages that reached new "
            "lines and fields without an effect so far. A broker's first thousand cases take "
            "nearly twice as long.",
        ),
    ] = False
    spark: SparkOptions = field(default_factory=SparkOptions)
    owned: Own = False
    as_json: JsonLines = False

    def __post_init__(self) -> None:
        """Raise Trouble for counting lines of targets on Spark."""
        if self.spark.spark and self.coverage:
            raise Trouble("--coverage does not work with --spark")

    @property
    def coverage(self) -> Literal["report", "feedback"] | None:
        """Return the purpose of counted lines.

        They are counted for the report, or also as feedback for the choice of cases; None: not counted.
        """
        return "feedback" if self.feedback else "report" if self.count_lines else None

    @property
    def changes(self) -> dict[str, Any]:
        """Return the settings that replace those of the campaign file."""
        budget = {"cases": self.cases, "seconds": self.seconds}
        changes = {
            "target": self.target,
            "seed": self.seed,
            "budget": {name: n for name, n in budget.items() if n is not None} or None,
        }
        return {name: value for name, value in changes.items() if value is not None}
