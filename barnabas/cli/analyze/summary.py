"""What `barnabas analyze` prints at the end: a few lines, or one document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from barnabas.captures.checks.finding import SEVERITIES
from barnabas.captures.kafka.wording import printable
from barnabas.cli.console.json_text import json_text
from barnabas.pipeline.report.sections.unread import unread_text
from barnabas.plural import plural

if TYPE_CHECKING:
    from barnabas.captures.checks.finding import Check
    from barnabas.pipeline.analyze import Outcome
    from barnabas.pipeline.report.parts import Row

STYLES: Final = {"error": "bold red", "warning": "yellow", "note": "cyan"}

MOST: Final = 8
"""Lines of findings, and of what could not be read."""


def lines(
    outcome: Outcome,
    found: Sequence[Row],
    above: Sequence[str] = (),
    next_batch: int | None = None,
) -> Iterator[Text]:
    """For a person: what was read, what was found, what could not be read, where the report is.

    found: what `counted` says. above: limits that do not hold. next_batch: what comes behind this."""
    seen = outcome.overview
    yield Text(
        f"{plural(seen.exchanges, 'exchange')} on {plural(seen.connections, 'connection')} of "
        f"{plural(seen.clients, 'client')}, {seen.errors} with an error"
    )
    yield from map(finding_line, found[:MOST])
    if not found:
        yield Text("no findings")
    elif len(found) > MOST:
        yield Text(f"and findings of {len(found) - MOST} more checks")
    unread = outcome.results["unread"].rows
    for row in unread[:MOST]:
        yield Text(f"not read: {printable(unread_text(row))}", "yellow")
    if len(unread) > MOST:
        yield Text(f"not read: {len(unread) - MOST} more kinds, see the report", "yellow")
    yield from (Text(f"error: {one}", STYLES["error"]) for one in above)
    yield Text.assemble("report: ", (str(outcome.report), "bold"))
    if next_batch is not None:
        yield next_line(next_batch)


def next_line(number: int) -> Text:
    """How to go on behind batches that were analyzed."""
    return Text(f"next: --from-batch {number}")


def finding_line(row: Row) -> Text:
    """How often a check found something of a severity, and what first."""
    return Text.assemble(
        (f"{row['severity']:<8}", STYLES[row["severity"]]),
        (f"{row['check']}: ", "bold"),
        f"{plural(row['count'], 'finding')}, first: {printable(row['first'])}",
    )


def as_json(
    outcome: Outcome,
    found: Sequence[Row],
    above: Sequence[str] = (),
    next_batch: int | None = None,
) -> str:
    """One object; times are ISO 8601 in UTC. Parameters as in `lines`."""
    seen = outcome.overview
    document: dict[str, Any] = {
        **seen._asdict(),
        "begins": seen.begins and seen.begins.isoformat(),
        "ends": seen.ends and seen.ends.isoformat(),
        "findings": [{name: row[name] for name in ("severity", "check", "count")} for row in found],
        "unread": list(outcome.results["unread"].rows),
        "quality": list(outcome.quality),
        "exceeded": list(above),
        "rows": {name: result.total for name, result in outcome.results.items()},
        "report": str(outcome.report),
        **({} if next_batch is None else {"next_batch": next_batch}),
    }
    return json_text(document, indent=2)


def counted(outcome: Outcome, checks: Iterable[Check]) -> list[Row]:
    """How many findings of these, by severity and check; the most first, and the worst severity among
    equals."""
    names = {check.name for check in checks}
    rows = [row for row in outcome.results["findings_by_check"].rows if row["check"] in names]
    return sorted(rows, key=lambda row: (-row["count"], SEVERITIES.index(row["severity"])))
