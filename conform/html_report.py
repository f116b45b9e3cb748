"""The results of a run as one HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from barnabas.conform.check import Check
from barnabas.conform.frame_text import MARK, request_lines, response_lines
from barnabas.conform.report import Report, shown_outcome
from barnabas.conform.sources import source_link
from barnabas.conform.verdicts import Verdict
from barnabas.look.html import (
    Cell,
    Html,
    html_badge,
    html_code,
    html_figures,
    html_fold,
    html_link,
    html_page,
    html_table,
    html_text,
)
from barnabas.plural import plural

SEVERITIES: Final = {"pass": "fine", "fail": "error", "error": "warning", "note": "note"}
"""The colours of outcomes; others have none."""

FAILURES: Final = (
    ("fail", "Failures"),
    ("known", "Known failures"),
    ("note", "Failures that do not count"),
)
"""The groups of failures and their headings, the gravest first."""


def as_html(report: Report, date: str) -> str:
    """Return the page: figures, counts by area, failures with frames, differences, all checks."""
    title = f"Conformance of {report.target}"
    return html_page(title, "conformance", _body(report, date))


def _body(report: Report, date: str) -> Iterator[str]:
    yield f"<h1>Conformance of {html_text(report.target)}</h1>"
    yield f'<p class="lead">{html_text(_lead(report))}</p>'
    yield f'<p class="when">{html_text(date)}</p>'
    yield from html_figures(_figures(report))
    failed = [check for check in report.checks if report.outcome(check) == "fail"]
    by_outcome = {
        outcome: [check for check in failed if shown_outcome(report, check) == outcome]
        for outcome, _ in FAILURES
    }
    yield '<nav class="tabs" aria-label="Sections">'
    yield '<a href="#areas">Areas</a>'
    for outcome, title in FAILURES:
        if by_outcome[outcome]:
            yield f'<a href="#{outcome}">{title} {len(by_outcome[outcome])}</a>'
    if report.against is not None:
        yield f'<a href="#differences">Differences {len(report.contrasts)}</a>'
    yield '<a href="#checks">All checks</a></nav>'
    yield f'<section class="panel">{_heading("areas", "Areas")}'
    yield from _areas(report)
    yield "</section>"
    if not failed:
        yield '<section class="panel"><h2>Failures</h2><p class="none">None.</p></section>'
    for outcome, title in FAILURES:
        checks = sorted(by_outcome[outcome], key=lambda check: check.level)
        if checks:
            yield f'<section class="panel">{_heading(outcome, title)}'
            for check in checks:
                yield from _failure(report, check, report.verdicts[check.name])
            yield "</section>"
    if report.against is not None:
        title = f"Differences from {report.against}"
        yield f'<section class="panel">{_heading("differences", title)}'
        yield from _contrasts(report)
        yield "</section>"
    yield f'<section class="panel">{_heading("checks", "All checks")}'
    head = ("check", "level", "verdict", "requirement", "reason")
    yield from html_table(head, _rows(report), "All checks")
    yield "</section>"


def _heading(name: str, title: str) -> str:
    return f'<h2 id="{name}">{html_text(title)}{html_link(name, title)}</h2>'


def _lead(report: Report) -> str:
    """Return the results in a sentence."""
    run = report.count("pass") + report.count("fail")
    passed = f"{report.count('pass'):,} of {plural(run, 'check')} passed"
    failures = len(report.failures)
    counted = f"{failures:,} failure{'s' * (failures != 1)}" if failures else "no failure"
    other = f", {report.count('error'):,} not carried out" if report.count("error") else ""
    return f"{passed}, {counted} counted for the exit code{other}."


def _figures(report: Report) -> Iterator[tuple[str, str, bool]]:
    yield "passed", f"{report.count('pass'):,}", False
    yield "failed", f"{report.count('fail'):,}", False
    yield "failed, counted", f"{len(report.failures):,}", bool(report.failures)
    yield "skipped", f"{report.count('skipped'):,}", False
    yield "not carried out", f"{report.count('error'):,}", bool(report.count("error"))
    if report.against is not None:
        yield "different responses", f"{len(report.contrasts):,}", False


def _areas(report: Report) -> Iterator[str]:
    rows = []
    for area, (passed, total) in report.by_area().items():
        share = passed / max(total, 1)
        rows.append((area, passed, total, Cell(f"{share:.0%}", share)))
    yield from html_table(("area", "passed", "checks", "share"), rows, "Areas")


def _failure(report: Report, check: Check, verdict: Verdict) -> Iterator[str]:
    outcome = shown_outcome(report, check)
    summary = (
        f"{html_badge(SEVERITIES.get(outcome, ''), check.level.name)} "
        f'<code>{html_text(check.name)}</code><span class="oracle">{html_text(check.what)}</span>'
    )
    yield from html_fold(check.name, summary, _evidence(report, check, verdict), id_=check.name)


def _evidence(report: Report, check: Check, verdict: Verdict) -> Iterator[str]:
    yield f"<p>{html_text(verdict.reason)}</p>"
    evidence = verdict.failure.evidence if verdict.failure else None
    if evidence is not None:
        yield from _frames(
            ("request", request_lines(evidence)), ("response", response_lines(evidence))
        )
    if verdict.packets:
        packets = ", ".join(map(str, verdict.packets))
        yield f'<p class="remark">Packets {packets} of the capture.</p>'
    sources = ", ".join(map(_source, check.sources))
    yield f'<p class="remark">Source: {sources}</p>'
    command = f"barnabas conform {report.target} --only {check.name}"
    yield html_code(command, "Repeat")


def _source(source: str) -> str:
    link = source_link(source)
    text = html_text(source)
    return f'<a href="{html_text(link)}">{text}</a>' if link else text


def _frames(*frames: tuple[str, Iterable[str]]) -> Iterator[str]:
    """Yield named frames beside each other."""
    yield '<div class="pair">'
    for name, lines in frames:
        yield f"<div><h3>{html_text(name)}</h3>"
        code = Html("\n".join(map(_line, lines)))
        yield html_code(code) if code else '<p class="none">none</p>'
        yield "</div>"
    yield "</div>"


def _line(line: str) -> str:
    """Return a line of a frame; that of the wrong field is marked."""
    return f"<mark>{html_text(line)}</mark>" if line.startswith(MARK) else html_text(line)


def _contrasts(report: Report) -> Iterator[str]:
    if not report.contrasts:
        yield '<p class="none">None.</p>'
    for check, contrast in report.differing:
        summary = f"<code>{html_text(check.name)}</code>{html_text(str(contrast))}"
        body = _frames(
            (report.target, response_lines(contrast.first)),
            (str(report.against), response_lines(contrast.second)),
        )
        yield from html_fold(
            f"{check.name}, difference", summary, body, id_=f"{check.name}-differs"
        )


def _rows(report: Report) -> Iterator[tuple[str, ...]]:
    for check in report.checks:
        verdict = report.verdicts.get(check.name)
        if verdict is not None:
            outcome = shown_outcome(report, check)
            badge = Html(html_badge(SEVERITIES.get(outcome, ""), outcome))
            name = html_text(check.name)
            link = f'<a href="#{name}">{name}</a>' if verdict.outcome == "fail" else name
            yield Html(link), check.level.name, badge, check.what, verdict.reason
