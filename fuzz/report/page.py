"""The report as one HTML page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from barnabas.fuzz.database.findings import Finding
from barnabas.fuzz.report.cause import Group, cause_name, representative
from barnabas.fuzz.report.finding import REPLAY, Entry, entries
from barnabas.fuzz.report.message import MARK
from barnabas.fuzz.report.summary import Summary, sections
from barnabas.fuzz.report.title import heading, upon
from barnabas.look.html import (
    Html,
    html_badge,
    html_code,
    html_facts,
    html_figures,
    html_fold,
    html_link,
    html_page,
    html_table,
    html_text,
)
from barnabas.plural import plural

LEVELS: Final = {"undocumented error": "warning", "log": "note", "other": "note"}
"""How grave a cause is, by its severity; all others are errors."""

LISTED: Final = 5
"""Findings of a cause that are listed at once; a click shows the others."""

_BYTES: Final = 6, 55
"""The columns of a row of `dump` at which the bytes and their characters begin."""


def page(campaigns: Sequence[Summary]) -> str:
    """Return the page."""
    title = ", ".join(campaign.title for campaign in campaigns) or "no campaign"
    names = set[str]()
    body = [line for campaign in campaigns for line in _campaign(campaign, names)]
    if not campaigns:
        body = ["<h1>No campaign</h1>", '<p class="none">The database has no campaign.</p>']
    return html_page(title, "fuzz", body)


def _campaign(summary: Summary, names: set[str]) -> Iterator[str]:
    """Yield a campaign's lines. names: the ids of the page so far."""
    groups = summary.groups
    causes = Counter(group.severity for group in groups)
    yield f"<h1>{html_text(summary.title)}</h1>"
    yield f'<p class="lead">{html_text(_lead(summary, causes))}</p>'
    yield from html_figures(_figures(summary, causes))
    tables = list(sections(summary))
    prefix = f"{summary.campaign.name}-"
    yield f'<nav class="tabs" aria-label="{html_text(f"Sections of {summary.title}")}">'
    for title, count in (*causes.items(), ("campaign", 0), *((each[0], 0) for each in tables)):
        yield f'<a href="#{html_text(_id(prefix, title))}">{html_text(title)} {count or ""}</a>'
    yield "</nav>"
    if not groups:
        yield '<section class="panel"><h2>Findings</h2><p class="none">None.</p></section>'
    severity = ""
    for group in groups:
        if group.severity != severity:
            severity = group.severity
            yield _heading(
                prefix, severity, f"{severity.capitalize()}: {plural(causes[severity], 'cause')}"
            )
        yield from _group(group, summary.database, names)
    yield f'<section class="panel">{_heading(prefix, "campaign", "Campaign", "")}'
    yield from html_facts(summary.facts)
    yield "</section>"
    for title, head, rows in tables:
        yield f'<section class="panel">{_heading(prefix, title, title, "")}'
        yield from html_table(head, rows, f"{title}, {summary.title}")
        yield "</section>"


def _id(prefix: str, title: str) -> str:
    return prefix + title.partition(" (")[0].lower().replace(" ", "-")


def _heading(prefix: str, title: str, text: str, kind: str = "group") -> str:
    name = _id(prefix, title)
    return (
        f'<h2 class="{kind}" id="{html_text(name)}">{html_text(text)}{html_link(name, text)}</h2>'
    )


def _lead(summary: Summary, causes: Counter[str]) -> str:
    """Return a campaign in a sentence."""
    row = summary.campaign
    cases = f"{row.done:,} case{'s' * (row.done != 1)}"
    took = f" in {row.seconds:,.0f} s" if row.seconds else ""
    if not causes:
        return f"{cases}{took}: no findings."
    counts = ", ".join(f"{count} {severity}" for severity, count in causes.items())
    findings = plural(len(summary.findings), "finding")
    return f"{cases}{took}: {findings} of {plural(causes.total(), 'cause')} ({counts})."


def _figures(summary: Summary, causes: Counter[str]) -> Iterator[tuple[str, str, bool]]:
    yield "cases", f"{summary.campaign.done:,}", False
    yield "findings", f"{len(summary.findings):,}", False
    yield "causes", f"{causes.total():,}", False
    for severity, count in causes.items():
        yield severity, f"{count:,}", _level(severity) == "error"
    yield "APIs", f"{len(summary.apis):,}", False
    if summary.packages:
        _, lines, _, reached, *_ = summary.packages[0]
        yield "lines reached", f"{int(reached) / max(int(lines), 1):.0%}", False


def _level(severity: str) -> str:
    return LEVELS.get(severity, "error")


def _group(group: Group, database: str, names: set[str]) -> Iterator[str]:
    """Yield a cause as a card, with the facts that all its findings share; its id is that of `_finding`."""
    new_name = _new(cause_name(group.cause), names)
    title = heading(group)
    counts = f"{plural(len(group.findings), 'finding')} · {plural(group.cases, 'case')}"
    shrunk = representative(group)
    all_entries = [list(entries(finding, database, shrunk)) for finding in group.findings]
    shared = _shared(all_entries)
    anchor = f' id="{new_name}"' if new_name else ""
    yield f'<section class="panel cause"{anchor}>'
    link = html_link(new_name, title) if new_name else ""
    badge = html_badge(_level(group.severity), group.severity)
    yield f"<h3>{html_text(title)}{link}</h3>{badge}"
    yield f'<p class="remark">{counts}</p>'
    if shared:
        yield from html_facts((entry.name, entry.value) for entry in shared)
    cards = [
        _finding(finding, [entry for entry in its_entries if entry not in shared], names)
        for finding, its_entries in zip(group.findings, all_entries, strict=True)
    ]
    for card in cards[:LISTED]:
        yield from card
    others = cards[LISTED:]
    if others:
        yield f'<details class="data"><summary>{plural(len(others), "more finding")}</summary>'
        for card in others:
            yield from card
        yield "</details>"
    yield "</section>"


def _shared(findings: Sequence[Sequence[Entry]]) -> list[Entry]:
    """Return the facts in one line that all of several findings have."""
    first, *others = findings
    if not others:
        return []
    return [entry for entry in first if not entry.lines and all(entry in other for other in others)]


def _new(name: str, names: set[str]) -> str:
    """Return a name that the page has as an id for the first time, else ""; add it to the names."""
    new_name = "" if name in names else name
    names.add(name)
    return new_name


def _finding(finding: Finding, own_entries: Sequence[Entry], names: set[str]) -> Iterator[str]:
    """Yield a finding as a card that opens; of several with one name, the first has the id."""
    summary = (
        f'<code>{html_text(finding.name)}</code><span class="oracle">{html_text(finding.oracle)}</span>'
        f'{html_text(upon(finding.best))} <span class="remark">{finding.cases:,} ×</span>'
    )
    yield from html_fold(finding.name, summary, _about(own_entries), id_=_new(finding.name, names))


def _about(all_entries: Sequence[Entry]) -> Iterator[str]:
    facts = [entry for entry in all_entries if not entry.lines]
    yield from html_facts((entry.name, entry.value) for entry in facts if entry.name != REPLAY)
    for entry in facts:
        if entry.name == REPLAY:
            yield html_code(entry.value, "Replay")
    yield '<div class="pair">'
    for entry in all_entries:
        if entry.lines:
            yield f"<div><h4>{html_text(str(entry).removesuffix(':'))}</h4>"
            code = Html(_with_marks(entry.lines)) if entry.marked else "\n".join(entry.lines)
            yield html_code(code) + "</div>"
    yield "</div>"


def _with_marks(lines: Iterable[str]) -> str:
    r"""Return lines as HTML: a changed field is marked, and bytes above `^^` in place of this row.

    >>> _with_marks(["> a: 1", "  b: 2"])
    '<mark>&gt; a: 1</mark>\n  b: 2'
    >>> _with_marks(["0000  61 62" + 44 * " " + "ab", "         ^^"])[:24]
    '0000  61 <mark>62</mark>'
    """
    marked = list[str]()
    row = ""
    for line in lines:
        if row and not line.strip(" ^"):
            marked[-1] = _marked_row(row, line)
        elif line.startswith(MARK):
            marked.append(f"<mark>{html_text(line)}</mark>")
        else:
            marked.append(html_text(line))
        row = line
    return "\n".join(marked)


def _marked_row(row: str, marks: str) -> str:
    spans = [match.span() for match in re.finditer(r"\^\^( \^\^)*", marks)]
    at_bytes, at_characters = _BYTES
    for start, end in spans[:]:
        first, last = ((column - at_bytes) // 3 for column in (start, end))
        spans.append((at_characters + first, at_characters + last + 1))
    html, begin = "", 0
    for start, end in spans:
        html += f"{html_text(row[begin:start])}<mark>{html_text(row[start:end])}</mark>"
        begin = end
    return html + html_text(row[begin:])
