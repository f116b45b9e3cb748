"""`barnabas fuzz report`: campaigns and their findings, as Markdown, one page of HTML, or JSON."""

from __future__ import annotations

from pathlib import Path

from barnabas.captures.files import private
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.database import opened
from barnabas.fuzz.report.markdown import markdown
from barnabas.fuzz.report.page import page
from barnabas.fuzz.report.reached_lines import NEVER, PACKAGES, UNSEEN
from barnabas.fuzz.report.summary import Summary, summaries
from barnabas.fuzz.report.title import heading, title
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble


def fuzz_report(
    db: Path | None, html: Path | None, *, as_json: bool = False, output: Output | None = None
) -> int:
    """Write the report; returns the exit code. Raises Trouble."""
    output = output or Output()
    with opened(db) as findings:
        found = summaries(findings)
    if as_json and html is not None:
        raise Trouble("--json or --html: choose one")
    if as_json:
        for one in found:
            output.raw(json_text(_document(one)))
    elif html is None:
        output.raw(markdown(found))
    else:
        try:
            private.write(html, page(found).encode())
        except OSError as problem:
            raise Trouble(f"--html {html}: {problem.strerror}", COULD_NOT_RUN) from None
        output.note(f"report: {html}")
    return FINDINGS if any(one.findings for one in found) else FINE


def _reached(one: Summary) -> dict[str, object]:
    named = (
        ("lines", PACKAGES, one.packages),
        ("never_reached", NEVER, one.never),
        ("nothing_showed", UNSEEN, one.unseen),
    )
    return {
        name: [dict(zip(map(_key, columns), row, strict=True)) for row in rows]
        for name, columns, rows in named
    }


def _key(column: str) -> str:
    return column.lower().replace(" ", "_")


def _document(one: Summary) -> dict[str, object]:
    return {
        "campaign": one.campaign.name,
        "target": one.campaign.target,
        "cases": one.campaign.done,
        "causes": [
            {
                **group.cause._asdict(),
                "title": heading(group),
                "cases": group.cases,
                "findings": [
                    {
                        "name": each.name,
                        "oracle": each.oracle,
                        "title": title(each),
                        "cases": each.cases,
                        "first_case": each.first_case,
                    }
                    for each in group.findings
                ],
            }
            for group in one.groups
        ],
        **(_reached(one) if one.packages else {}),
    }
