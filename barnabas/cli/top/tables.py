"""Draw a snapshot: a line about all, and a table each for clients, topics, groups and APIs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from barnabas.captures.kafka.wording import printable, size
from barnabas.cli.console.progress import clock
from barnabas.cli.console.show import ms
from barnabas.cli.top.view import ERRORS, TABLES, TITLES, View, rate
from barnabas.plural import plural

SECOND: Final = 1_000_000_000

KEYS: Final = "q quit  1-4 one table  0 all  tab next  < > sort  / filter  p pause"

WIDE_HEAD: Final = 130
"""Cells of a terminal from which on the figures of all exchanges are on one line."""

LEAST_NAME: Final = 12
"""Cells of a name at least."""


def drawn(
    snapshot: Mapping[str, Any],
    view: View,
    source: str,
    cells: tuple[int, int],
    zone: tzinfo | None = None,
) -> RenderableType:
    """Return what a terminal of `cells` (columns, lines) shows."""
    width, height = cells
    titles = (view.selected,) if view.alone else TITLES
    rows = {title: view.rows(title, snapshot) for title in titles}
    head = [*_head(snapshot, source, width, zone)]
    room = (
        height - len(head) - 1 - 2 * len(titles)
    )  # the keys; of each table titles and an empty line
    shares = shared({title: len(rows[title]) for title in titles}, room)
    parts: list[RenderableType] = [*head]
    for title in titles:
        parts += ["", _table(title, rows[title], shares[title], width, view)]
    return Group(*parts, _foot(view))


def printed(
    snapshot: Mapping[str, Any], source: str, width: int, zone: tzinfo | None = None
) -> Iterator[RenderableType]:
    """Yield the parts of a snapshot that is printed once, with all rows."""
    view = View()
    yield from _head(snapshot, source, width, zone)
    for title in TITLES:
        rows = view.rows(title, snapshot)
        yield ""
        yield _table(title, rows, len(rows), width, None)


def shared(lengths: Mapping[str, int], room: int) -> dict[str, int]:
    """Return how many rows of each table are shown in `room` lines; short tables leave theirs to longer ones.

    >>> shared({"clients": 2, "topics": 90, "APIs": 9}, 20)
    {'clients': 2, 'topics': 9, 'APIs': 9}
    """
    shares: dict[str, int] = {}
    for remaining, title in zip(
        range(len(lengths), 0, -1), sorted(lengths, key=lambda title: lengths[title]), strict=True
    ):
        shares[title] = max(min(lengths[title], room // remaining), 1)
        room -= shares[title]
    return {title: shares[title] for title in lengths}


def _head(
    snapshot: Mapping[str, Any], source: str, width: int, zone: tzinfo | None
) -> Iterator[Text]:
    total, now = snapshot["total"], int(snapshot["now"])
    moment = f"{datetime.fromtimestamp(now // SECOND, zone):%H:%M:%S}"
    first = int(snapshot["first"])
    lasted = max(now - first, 0) / SECOND if first else 0
    yield Text.assemble(
        ("barnabas top", "bold"),
        f" {printable(source)}  {moment}  for {clock(lasted)}, "
        f"rates of the last {snapshot['window_s']:.0f} s",
        no_wrap=True,
        overflow="ellipsis",
    )
    latencies = [total["p50_ms"], total["p99_ms"]]
    p50, p99 = ("-" if each is None else ms(each) for each in latencies)
    parts: list[tuple[str, str]] = [
        (f"{rate(total['per_s'])} exchanges/s", "bold"),
        (f"{size(round(total['bytes_per_s']))}/s", ""),
        (f"{rate(total['errors_per_s'])} errors/s", _red(total["errors_per_s"])),
        (f"{rate(total['unanswered_per_s'])} unanswered/s", _red(total["unanswered_per_s"])),
        (f"{rate(total['faults_per_s'])} faults/s", "magenta" if total["faults_per_s"] else ""),
    ]
    others = [
        (plural(snapshot["connections"], "connection"), ""),
        (f"p50 {p50}", ""),
        (f"p99 {p99}", ""),
    ]
    for line_parts in (parts, others) if width < WIDE_HEAD else (parts + others,):
        line = Text("  ").join(Text(text, style) for text, style in line_parts)
        line.no_wrap, line.overflow = True, "ellipsis"
        yield line
    if missed := snapshot.get("missed"):
        yield Text(f"{plural(missed, 'exchange')} not counted: too many at a time", "yellow")


def _foot(view: View) -> Text:
    if view.is_typing:
        return Text(f"filter: {printable(view.filter)}▏  enter: keep, escape: clear")
    state = f"filter: {printable(view.filter)}  " if view.filter else ""
    paused = ("PAUSED  ", "bold yellow") if view.is_paused else ""
    return Text.assemble(paused, state, (KEYS, "dim"), no_wrap=True, overflow="ellipsis")


def _table(
    title: str, rows: list[dict[str, Any]], most: int, width: int, view: View | None
) -> Table:
    """Return a table of the first rows.

    view: Marks the selected table, and the columns that sort; None: nobody can choose.
    """
    table = Table(box=None, pad_edge=False, expand=False, header_style="bold")
    columns = [
        column
        for column in TABLES[title]
        if width >= column.least or (view and _sorts(view, title, column.field))
    ]
    for column in columns:
        heading = (
            f"{column.title} ▾" if view and _sorts(view, title, column.field) else column.title
        )
        if column.field == "name":
            style = "bold reverse" if view and title == view.selected else "bold"
            table.add_column(
                Text(heading, style), no_wrap=True, overflow="ellipsis", min_width=LEAST_NAME
            )
        else:
            side = "left" if column.text is str else "right"
            table.add_column(heading, justify=side, no_wrap=True)  # type: ignore[arg-type]
    for row in rows[:most]:
        cells = []
        for column in columns:
            value = row[column.field]
            text = "-" if value is None else printable(column.text(value))
            cells.append(Text(text, _style(column.field, value)))
        table.add_row(*cells)
    if not rows:
        table.add_row(Text("-", "dim"))
    return table


def _sorts(view: View, title: str, field: str) -> bool:
    return TABLES[title][view.orders[title]].field == field


def _style(field: str, value: Any) -> str:
    if value is None or value == 0:
        return "dim"
    if field == "name":
        return "cyan"
    if value == "rebalancing":
        return "yellow"
    return "bold red" if field in ERRORS else "magenta" if field == "faults_per_s" else ""


def _red(value: float) -> str:
    return "bold red" if value else ""
