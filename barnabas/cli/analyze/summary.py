"""What `barnabas analyze` prints at the end: a few lines, or one document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from barnabas.captures.checks.finding import SEVERITIES
from barnabas.captures.kafka.wording import printable
from barnabas.cli.console.json_text import json_text
from barnabas.plural import plural

if TYPE_CHECKING:
    from barnabas.pipeline.analyze import Outcome

STYLES: Final = {"error": "bold red", "warning": "yellow", "note": "cyan"}

MOST: Final = 8
"""Lines of findings, and of what could not be read."""


def lines(outcome: Outcome) -> Iterator[Text]:
    """For a person: what was read, what was found, what could not be read, where the report is."""
    seen = outcome.overview
    yield Text(
        f"{plural(seen.exchanges, 'exchange')} on {plural(seen.connections, 'connection')} of "
        f"{plural(seen.clients, 'client')}, {seen.errors} with an error"
    )
    found = _findings(outcome)
    for (severity, check), count in found.most_common(MOST):
        first = next(
            row["text"]
            for row in outcome.results["findings"].rows
            if (row["severity"], row["check"]) == (severity, check)
        )
        yield Text.assemble(
            (f"{severity:<8}", STYLES[severity]),
            (f"{check}: ", "bold"),
            f"{plural(count, 'finding')}, first: {printable(first)}",
        )
    if not found:
        yield Text("no findings")
    elif len(found) > MOST:
        yield Text(f"and findings of {len(found) - MOST} more checks")
    unread = outcome.results["unread"].rows
    for row in unread[:MOST]:
        where = printable(str(row["file"] or row["capture"]))
        yield Text(
            f"not read: {row['kind']} in {where}, {plural(row['count'], 'time')}: {row['reason']}",
            "yellow",
        )
    if len(unread) > MOST:
        yield Text(f"not read: {len(unread) - MOST} more kinds, see the report", "yellow")
    yield Text.assemble("report: ", (str(outcome.report), "bold"))


def as_json(outcome: Outcome) -> str:
    """One object; times are ISO 8601 in UTC."""
    seen = outcome.overview
    document: dict[str, Any] = {
        **seen._asdict(),
        "begins": seen.begins and seen.begins.isoformat(),
        "ends": seen.ends and seen.ends.isoformat(),
        "findings": [
            {"severity": severity, "check": check, "count": count}
            for (severity, check), count in _findings(outcome).most_common()
        ],
        "unread": list(outcome.results["unread"].rows),
        "rows": {name: result.total for name, result in outcome.results.items()},
        "report": str(outcome.report),
    }
    return json_text(document, indent=2)


def _findings(outcome: Outcome) -> Counter[tuple[str, str]]:
    """How many, by severity and check; the worst severity first."""
    rows = outcome.results["findings"].rows
    ranked = sorted(rows, key=lambda row: SEVERITIES.index(row["severity"]))
    return Counter((row["severity"], row["check"]) for row in ranked)
