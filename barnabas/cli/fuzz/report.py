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
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble, os_errors


def fuzz_report(db: Path | None, html: Path | None, *, as_json: bool = False) -> int:
    """Write the report; return the exit code. Raises Trouble."""
    output = Output()
    with opened(db) as findings:
        campaigns = summaries(findings)
    if as_json and html is not None:
        raise Trouble("--json or --html: choose one")
    if as_json:
        for summary in campaigns:
            output.raw(json_text(_document(summary)))
    elif html is None:
        output.raw(markdown(campaigns))
    else:
        with os_errors(f"--html {html}", COULD_NOT_RUN):
            private.write(html, page(campaigns).encode())
        output.note(f"report: {html}")
    return FINDINGS if any(summary.findings for summary in campaigns) else FINE


def _reached(summary: Summary) -> dict[str, object]:
    named = (
        ("lines", PACKAGES, summary.packages),
        ("never_reached", NEVER, summary.never),
        ("nothing_showed", UNSEEN, summary.unseen),
    )
    return {
        name: [dict(zip(map(_key, columns), row, strict=True)) for row in rows]
        for name, columns, rows in named
    }


def _key(column: str) -> str:
    return column.lower().replace(" ", "_")


def _document(summary: Summary) -> dict[str, object]:
    return {
        "campaign": summary.campaign.name,
        "target": summary.campaign.target,
        "cases": summary.campaign.done,
        "causes": [
            {
                **group.cause._asdict(),
                "title": heading(group),
                "severity": group.severity,
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
            for group in summary.groups
        ],
        **(_reached(summary) if summary.packages else {}),
    }
