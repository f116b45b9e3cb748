"""The summary that `barnabas analyze` prints at its end: a few lines, or one JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from barnabas.captures.checks.finding import SEVERITIES
from barnabas.captures.kafka.notes import ONE_DIRECTION
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
"""The most lines of findings, and of kinds of unread data."""


def lines(
    outcome: Outcome,
    findings: Sequence[Row],
    above: Sequence[str] = (),
    next_batch: int | None = None,
) -> Iterator[Text]:
    """Yield the lines of the summary: what was read, the findings, what was not read, and the report.

    Args:
        outcome: The result of the analysis.
        findings: The rows of `counted`.
        above: The exceeded thresholds.
        next_batch: The number of the batch after the analyzed ones.
    """
    overview = outcome.overview
    errors = "" if overview.only == "request" else f", {overview.errors} with an error"
    yield Text(
        f"{plural(overview.exchanges, 'exchange')} on {plural(overview.connections, 'connection')} of "
        f"{plural(overview.clients, 'client')}{errors}"
    )
    yield from map(finding_line, findings[:MOST])
    if overview.only is not None:
        yield Text(ONE_DIRECTION[overview.only], "yellow")
    elif not findings:
        yield Text("no findings")
    if len(findings) > MOST:
        yield Text(f"and findings of {len(findings) - MOST} more checks")
    unread = outcome.results["unread"].rows
    for row in unread[:MOST]:
        yield Text(f"not read: {printable(unread_text(row))}", "yellow")
    if len(unread) > MOST:
        yield Text(f"not read: {len(unread) - MOST} more kinds, see the report", "yellow")
    yield from (Text(f"error: {limit}", STYLES["error"]) for limit in above)
    yield Text.assemble("report: ", (str(outcome.report), "bold"))
    if next_batch is not None:
        yield next_line(next_batch)


def next_line(number: int) -> Text:
    """Return the option that continues after the analyzed batches."""
    return Text(f"next: --from-batch {number}")


def finding_line(row: Row) -> Text:
    """Return a line on a check's findings of one severity: their number and the first of them."""
    return Text.assemble(
        (f"{row['severity']:<8}", STYLES[row["severity"]]),
        (f"{row['check']}: ", "bold"),
        f"{plural(row['count'], 'finding')}, first: {printable(row['first'])}",
    )


def as_json(
    outcome: Outcome,
    findings: Sequence[Row],
    above: Sequence[str] = (),
    next_batch: int | None = None,
) -> str:
    """Return the summary as a JSON object. Times are ISO 8601 in UTC. Parameters as in `lines`."""
    overview = outcome.overview
    document: dict[str, Any] = {
        **overview._asdict(),
        "begins": overview.begins and overview.begins.isoformat(),
        "ends": overview.ends and overview.ends.isoformat(),
        "findings": [
            {name: row[name] for name in ("severity", "check", "count")} for row in findings
        ],
        "unread": list(outcome.results["unread"].rows),
        "quality": list(outcome.quality),
        "exceeded": list(above),
        "rows": {name: result.total for name, result in outcome.results.items()},
        "report": str(outcome.report),
        **({} if next_batch is None else {"next_batch": next_batch}),
    }
    return json_text(document, indent=2)


def counted(outcome: Outcome, checks: Iterable[Check]) -> list[Row]:
    """Count the findings of checks by severity and check.

    The largest counts come first; among equal counts, the worst severity.
    """
    names = {check.name for check in checks}
    rows = [row for row in outcome.results["findings_by_check"].rows if row["check"] in names]
    return sorted(rows, key=lambda row: (-row["count"], SEVERITIES.index(row["severity"])))
