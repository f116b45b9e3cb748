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
        raise Trouble(f"--broker-setting {text}: NAME=VALUE is expected")
    return name, value


@dataclass(frozen=True, kw_only=True)
class ApacheOptions:
    """Options for brokers of Apache Kafka that a campaign starts."""

    PANEL: ClassVar = "Targets of the kind apache"

    listener: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Listener for the cases: plaintext, or sasl_plaintext, on which connections log in first.",
        ),
    ] = None
    mechanism: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How they log in: PLAIN (default), SCRAM-SHA-256 or SCRAM-SHA-512.",
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
            help="Be over after this time, but for the case under way. If something was found, the last "
            "fifth of it is for shrinking (30 s at most).",
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
            help="Leave out what made this finding of the database fire (API, versions, field, "
            "mutator), to see what it hides. Repeatable. That is another campaign.",
        ),
    ] = field(default_factory=list)
    count_lines: Annotated[
        bool,
        typer.Option(
            "--coverage",
            help="Count the lines that the target reaches (apache, and most clients), for the report: valid "
            "messages are sent first, and it takes minutes more.",
        ),
    ] = False
    feedback: Annotated[
        bool,
        typer.Option(
            "--coverage-feedback",
            help="And make more cases of messages that reached new lines, and of fields whose change nothing "
            "showed yet, behind every 200 cases at least. A broker takes nearly twice the time for the first "
            "thousand cases.",
        ),
    ] = False
    spark: SparkOptions = field(default_factory=SparkOptions)
    owned: Own = False
    as_json: JsonLines = False

    def __post_init__(self) -> None:
        """Raise Trouble for counting lines of targets on Spark."""
        if self.spark.spark and self.coverage:
            raise Trouble("--coverage counts lines of a target here, and not of those on Spark")

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
