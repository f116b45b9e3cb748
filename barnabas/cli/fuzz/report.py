"""`barnabas fuzz report`: campaigns and their findings, as Markdown or as one page of HTML."""

from __future__ import annotations

from pathlib import Path

from barnabas.captures.files import private
from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.database import opened
from barnabas.fuzz.report.markdown import markdown
from barnabas.fuzz.report.page import page
from barnabas.fuzz.report.summary import summaries
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble


def fuzz_report(db: Path | None, html: Path | None, output: Output | None = None) -> int:
    """Write the report; returns the exit code. Raises Trouble."""
    output = output or Output()
    with opened(db) as findings:
        found = summaries(findings)
    if html is None:
        output.raw(markdown(found))
    else:
        try:
            private.write(html, page(found).encode())
        except OSError as problem:
            raise Trouble(f"--html {html}: {problem.strerror}", COULD_NOT_RUN) from None
        output.note(f"report: {html}")
    return FINDINGS if any(one.findings for one in found) else FINE
