"""The report as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from barnabas.captures.kafka.wording import printable
from barnabas.fuzz.cases.wording import made_of
from barnabas.fuzz.oracles.oracle import case_label
from barnabas.fuzz.report.cause import Group, representative
from barnabas.fuzz.report.finding import text
from barnabas.fuzz.report.summary import Summary, sections
from barnabas.fuzz.report.title import heading


def markdown(campaigns: Sequence[Summary]) -> str:
    """Return the report of all campaigns."""
    return "\n".join(line for campaign in campaigns for line in _campaign(campaign))


def _campaign(summary: Summary) -> Iterator[str]:
    yield f"# {_plain(summary.title)}\n"
    yield from (f"- {name}: {_plain(value)}" for name, value in summary.facts)
    yield "\n## Findings\n"
    if summary.findings:
        yield from _table(
            ("severity", "cause", "findings", "cases"),
            (
                (group.severity, heading(group), len(group.findings), group.cases)
                for group in summary.groups
            ),
        )
        for group in summary.groups:
            yield from _group(group, summary.database)
    else:
        yield "None."
    for title, head, rows in sections(summary):
        yield f"\n## {title}\n"
        yield from _table(head, rows)
    yield ""


def _group(group: Group, database: str) -> Iterator[str]:
    yield f"\n### {_plain(heading(group))}\n"
    yield from _table(
        ("finding", "oracle", "cases", "first shown by", "sent"),
        (
            (
                f"`{each.name}`",
                each.oracle,
                each.cases,
                case_label(each.oracle, each.observation),
                made_of(each.best),
            )
            for each in group.findings
        ),
    )
    for each in group.findings:
        yield f"\n#### {each.name}\n"
        body = text(each, database, representative(group)).replace("```", "'''")
        yield f"```\n{body}\n```"


def _table(head: Sequence[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(_cell(value) for value in row)} |"


def _cell(value: object) -> str:
    return _plain(f"{value:,}" if isinstance(value, int) else str(value))


def _plain(value: str) -> str:
    """Escape text for a table cell: it comes from the target."""
    return (
        printable(value)
        .replace("|", "\\|")
        .replace("*", "\\*")
        .replace("<", "&lt;")
        .replace("\n", " ")
    )
