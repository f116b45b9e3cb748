"""The report as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from barnabas.captures.kafka.wording import printable
from barnabas.fuzz.cases.wording import made_of
from barnabas.fuzz.oracles.oracle import whose
from barnabas.fuzz.report.cause import Group, standing
from barnabas.fuzz.report.finding import text
from barnabas.fuzz.report.summary import Summary, sections
from barnabas.fuzz.report.title import heading


def markdown(found: Sequence[Summary]) -> str:
    """All campaigns."""
    return "\n".join(line for one in found for line in _campaign(one))


def _campaign(one: Summary) -> Iterator[str]:
    yield f"# {_plain(one.title)}\n"
    yield from (f"- {name}: {_plain(value)}" for name, value in one.facts)
    yield "\n## Findings\n"
    if one.findings:
        yield from _table(
            ("cause", "findings", "cases"),
            ((heading(group), len(group.findings), group.cases) for group in one.groups),
        )
        for group in one.groups:
            yield from _group(group, one.database)
    else:
        yield "None."
    for title, head, rows in sections(one):
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
                whose(each.oracle, each.observation),
                made_of(each.best),
            )
            for each in group.findings
        ),
    )
    for each in group.findings:
        yield f"\n#### {each.name}\n"
        body = text(each, database, standing(group)).replace("```", "'''")
        yield f"```\n{body}\n```"


def _table(head: Sequence[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(_cell(value) for value in row)} |"


def _cell(value: object) -> str:
    return _plain(f"{value:,}" if isinstance(value, int) else str(value))


def _plain(value: str) -> str:
    """Text that ends no cell and is no markup: it comes from whoever answered."""
    return (
        printable(value)
        .replace("|", "\\|")
        .replace("*", "\\*")
        .replace("<", "&lt;")
        .replace("\n", " ")
    )
