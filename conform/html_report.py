"""The results of a run as one HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from barnabas.conform.check import Check
from barnabas.conform.frame_text import request_lines, response_lines
from barnabas.conform.report import Report, shown_outcome
from barnabas.conform.sources import source_link
from barnabas.conform.verdicts import Verdict
from barnabas.look.html import html_facts, html_page, html_table, html_text


def as_html(report: Report, date: str) -> str:
    """Return the page: counts by area, failures with frames, differences from another broker, all checks."""
    return html_page(f"Conformance of {report.target}", "conformance", _body(report, date))


def _body(report: Report, date: str) -> Iterator[str]:
    yield f"<h1>Conformance of {html_text(report.target)}</h1>"
    yield from html_facts(
        [
            ("date", date),
            *((outcome, f"{report.count(outcome):,}") for outcome in ("pass", "fail")),
            ("fail, counted for the exit code", f"{len(report.failures):,}"),
            *((outcome, f"{report.count(outcome):,}") for outcome in ("skipped", "error")),
        ]
    )
    yield "<h2>Areas</h2>"
    yield from html_table(
        ("area", "passed", "checks"),
        ((area, passed, total) for area, (passed, total) in report.by_area().items()),
        "Areas",
    )
    yield "<h2>Failures</h2>"
    failed = [check for check in report.checks if report.outcome(check) == "fail"]
    if not failed:
        yield '<p class="fine">None.</p>'
    for check in sorted(failed, key=lambda check: (not report.counts(check), check.level)):
        yield from _failure(report, check, report.verdicts[check.name])
    if report.against is not None:
        yield f"<h2>Differences from {html_text(report.against)}</h2>"
        yield from _contrasts(report)
    yield "<h2>All checks</h2>"
    yield from html_table(
        ("check", "level", "verdict", "requirement", "reason"), _rows(report), "All checks"
    )


def _failure(report: Report, check: Check, verdict: Verdict) -> Iterator[str]:
    yield (
        f'<details id="{html_text(check.name)}"><summary><b>{shown_outcome(report, check)}</b> '
        f'<code>{html_text(check.name)}</code> {check.level.name} <span class="fine">'
        f"{html_text(check.what)}</span></summary>"
    )
    yield f"<p>{html_text(verdict.reason)}</p>"
    evidence = verdict.failure.evidence if verdict.failure else None
    if evidence is not None:
        yield from _frames(request_lines(evidence), response_lines(evidence))
    if verdict.packets:
        packets = ", ".join(map(str, verdict.packets))
        yield f'<p class="fine">Packets {packets} of the capture.</p>'
    sources = ", ".join(map(_source, check.sources))
    command = html_text(f"barnabas conform {report.target} --only {check.name}")
    yield f"<p>Source: {sources}. Repeat: <code>{command}</code></p></details>"


def _source(source: str) -> str:
    link = source_link(source)
    text = html_text(source)
    return f'<a href="{html_text(link)}">{text}</a>' if link else text


def _frames(*frames: Iterable[str]) -> Iterator[str]:
    """Yield frames beside each other."""
    yield '<div class="table" tabindex="0"><table><tr>'
    for lines in frames:
        yield f"<td><pre>{html_text(chr(10).join(lines), lines=True)}</pre></td>"
    yield "</tr></table></div>"


def _contrasts(report: Report) -> Iterator[str]:
    if not report.contrasts:
        yield '<p class="fine">None.</p>'
    for check, contrast in report.differing:
        summary = f"<code>{html_text(check.name)}</code> {html_text(str(contrast))}"
        yield f"<details><summary>{summary}</summary>"
        yield from _frames(
            (report.target, *response_lines(contrast.first)),
            (report.against or "", *response_lines(contrast.second)),
        )
        yield "</details>"


def _rows(report: Report) -> Iterator[tuple[str, ...]]:
    for check in report.checks:
        verdict = report.verdicts.get(check.name)
        if verdict is not None:
            outcome = shown_outcome(report, check)
            yield check.name, check.level.name, outcome, check.what, verdict.reason
