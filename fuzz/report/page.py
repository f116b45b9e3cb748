"""The report as one HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from barnabas.fuzz.report.cause import Group, representative
from barnabas.fuzz.report.finding import text
from barnabas.fuzz.report.summary import Summary, sections
from barnabas.fuzz.report.title import heading, upon
from barnabas.look.html import html_facts, html_page, html_table, html_text
from barnabas.plural import plural


def page(campaigns: Sequence[Summary]) -> str:
    """Return the page."""
    title = ", ".join(campaign.title for campaign in campaigns) or "no campaign"
    return html_page(
        title, "fuzz", (line for campaign in campaigns for line in _campaign(campaign))
    )


def _campaign(summary: Summary) -> Iterator[str]:
    yield f"<h1>{html_text(summary.title)}</h1>"
    yield from html_facts(summary.facts)
    yield "<h2>Findings</h2>"
    if not summary.findings:
        yield '<p class="fine">None.</p>'
    for group in summary.groups:
        yield from _group(group, summary.database)
    for title, head, rows in sections(summary):
        yield f"<h2>{title}</h2>"
        yield from html_table(head, rows, title)


def _group(group: Group, database: str) -> Iterator[str]:
    counts = f"{group.severity} · {plural(len(group.findings), 'finding')} · {plural(group.cases, 'case')}"
    yield f'<h3>{html_text(heading(group))} <span class="fine">{counts}</span></h3>'
    for each in group.findings:
        finding = html_text(text(each, database, representative(group)), lines=True)
        yield (
            f'<details id="{html_text(each.name)}"><summary><code>{html_text(each.name)}</code> '
            f"<b>{html_text(each.oracle)}</b> {html_text(upon(each.best))} "
            f'<span class="fine">{each.cases:,} ×</span></summary>'
            f'<pre tabindex="0">{finding}</pre></details>'
        )
