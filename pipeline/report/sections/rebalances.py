"""The rebalances of each group: members that joined or were late, and how long delivery stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from operator import itemgetter
from typing import Final

from barnabas.pipeline.report.grouping import grouped, present
from barnabas.pipeline.report.marks import EPOCH, marks
from barnabas.pipeline.report.parts import Content, Lanes, Row, Statement, Table, rest, table_of
from barnabas.pipeline.report.wording import (
    client,
    clock,
    clock_span,
    duration,
    listed,
    member,
    name,
    utc,
)
from barnabas.plural import plural

GROUPS, MEMBERS = 6, 30
"""The most groups, and members of a group, that are drawn."""

LONG_MS: Final = 10_000
"""A stop of this length is an error, not only a warning."""

FIRST: Final = 1
"""The first generation of a new group: its members wait for each other (group.initial.rebalance.delay.ms)."""


def draw(phases: Sequence[Row]) -> Content:
    """Draw lanes of members for each group, and tables of generations and of members."""
    groups = grouped(phases, lambda row: name(row["group"]))
    generations = {group: _generations(group, rows) for group, rows in groups.items()}
    statements = [
        statement
        for group, rows in groups.items()
        if (statement := _statement(group, rows, generations[group]))
    ]
    ranked = sorted(groups, key=lambda group: (-len(groups[group]), group))
    remarks = rest(len(ranked) - GROUPS, "group", " with less to show", "in the tables only")
    lanes = []
    for group in ranked[:GROUPS]:
        members = [*dict.fromkeys(map(member, groups[group]))]
        others = rest(len(members) - MEMBERS, "member", state="in the tables only")
        remarks += [f"{group}: {remark}" for remark in others]
        drawn_rows = [row for row in groups[group] if member(row) in members[:MEMBERS]]
        lanes.append(
            Lanes(f"Group {group}", [*_lanes(group, drawn_rows)], [*_bands(generations[group])])
        )
    generation_table = table_of(
        [row for group in ranked for row in generations[group]],
        "group, generation, start: began, members, late, missed: missed by, join_ms: longest join, "
        "group_standstill_ms: the group stopped, reasons",
        {"generation": str},
        "Generations",
    )
    tables = [generation_table, _member_table(phases)]
    return Content(statements, lanes=lanes, tables=tables, remarks=remarks)


def _lanes(group: str, phases: Sequence[Row]) -> Iterator[Row]:
    """Yield a lane for each member, with an event for each phase."""
    timed = [row for row in phases if row["start"] and row["end"]]
    for member_id, rows in grouped(timed, lambda row: name(row["member"])).items():
        yield {
            **marks({"group": group, "client_id": rows[0]["client_id"]}),
            "member": member_id,
            "instance": member(rows[0]),
            "events": [
                {
                    "api": row["phase"],
                    "start": _ns(row["start"]),
                    "end": _ns(row["end"]),
                    "generation": row["generation"],
                    "reason": row["reason"],
                }
                for row in rows
            ],
        }


def _bands(generations: Sequence[Row]) -> Iterator[Row]:
    """Yield a band for each generation, until the next one of its capture begins."""
    in_order = sorted(generations, key=itemgetter("capture", "start"))
    for row, following in pairwise([*in_order, None]):
        assert row is not None  # noqa: S101 - only the last is
        until = following and following["capture"] == row["capture"] and following["start"]
        yield {
            "generation": row["generation"],
            "from": _ns(row["start"]),
            "until": _ns(until) if until else None,
            "why": row["reasons"],
            "waited_for": listed(row["missed"] or row["late"]),
            "standstill_ms": row["group_standstill_ms"],
            "late": row["delay"],
        }


def _delay(kind: str, members: Sequence[str]) -> Row | None:
    """Return members that others waited for, as `barnabas.page.answers.views.Late`."""
    return {"kind": kind, "members": members} if members else None


def _generations(group: str, phases: Sequence[Row]) -> list[Row]:
    """Return a row for each generation of a group, ordered by time."""
    clients = {row["member"]: row["client_id"] for row in phases}
    numbered = [row for row in phases if row["generation"] is not None]
    generations = []
    for (capture, generation), rows in grouped(
        numbered, itemgetter("capture", "generation")
    ).items():
        starts = [start for row in rows if (start := row["began_ts"] or row["start"])]
        ends = present(rows, "end")
        if not starts or not ends:
            continue
        joined = [row for row in rows if row["phase"] != "stopped"]
        late = {name(row["member"]): client(row) for row in rows if row["late"]}
        missed = rows[0]["missed"] or []
        generations.append(
            {
                "group": group,
                "capture": capture,
                "generation": generation,
                "start": min(starts),
                "end": max(ends),
                "members": rows[0]["members"] or len({row["member"] for row in joined}),
                "late": [*late.values()],
                "missed": [name(clients.get(member_id) or member_id) for member_id in missed],
                "delay": _delay("absent", missed) or _delay("late", [*late]),
                "join_ms": max(present(joined, "join_ms"), default=0) or None,
                "group_standstill_ms": max(present(rows, "group_standstill_ms"), default=0) or None,
                "reasons": listed(row["reason"] for row in joined if row["reason"]),
            }
        )
    return sorted(generations, key=itemgetter("start", "end"))


def _ns(moment: datetime) -> str:
    """Return ns since the epoch as text, the live page's format."""
    return str((utc(moment) - EPOCH) // timedelta(microseconds=1) * 1000)


def _statement(group: str, phases: Sequence[Row], generations: Sequence[Row]) -> Statement | None:
    """Return what delayed a group, if anything did."""
    worst = max(phases, key=_standstill_ms)
    still = _standstill_ms(worst)
    late = [
        f"{who} in generation {row['generation']}" for row in generations for who in row["late"]
    ]
    missed = [
        f"{who} missed generation {row['generation']}"
        for row in generations
        for who in row["missed"]
    ]
    details = [
        f", delivery stopped for up to {duration(still)} from {clock(worst['began_ts'] or worst['start'])} "
        f"(generation {worst['generation']})"
        if still > 0
        else "",
        f"; late: {listed(late)}" if late else "",
        *(f"; {listed(items)}" for items in (missed, [*_repeated_stops(phases)]) if items),
    ]
    if not any(details):
        return None
    count = plural(len({row["generation"] for row in phases}), "generation")
    timed = [row for row in phases if row["start"] and row["end"]]
    span = f" {clock_span(*timed)}" if timed else ""
    text = f"group {group}: {count}{span}{''.join(details)}"
    return Statement("error" if still >= LONG_MS else "warning", text, phases)


def _standstill_ms(row: Row) -> float:
    """Return how long the group of a phase stopped; 0 for a usual first join of a new group."""
    still: float = row["group_standstill_ms"] or 0
    return 0 if row["generation"] == FIRST and still < LONG_MS else still


def _repeated_stops(phases: Sequence[Row]) -> Iterator[str]:
    """Yield clients that stopped more than once, with the reasons from them or the coordinator."""
    stops = grouped((row for row in phases if row["phase"] == "stopped"), client)
    for client_name, rows in stops.items():
        if len(rows) > 1:
            reasons = listed(row["reason"] for row in rows)
            yield f"{client_name} stopped {len(rows)} times ({reasons})"


def _member_table(phases: Sequence[Row]) -> Table:
    members = grouped(phases, itemgetter("capture", "group", "generation", "member", "joined_ts"))
    member_rows = [
        {
            **rows[0],
            "end": max(present(rows, "end"), default=None),
            "stopped": next(
                (row["reason"] for row in reversed(rows) if row["phase"] == "stopped"), None
            ),
        }
        for rows in members.values()
    ]
    return table_of(
        member_rows,
        "group, generation, client_id, member, joined_ts: joined, join_ms: join took, "
        "sync_ms: sync took, late, standstill_ms: the member stopped, "
        "group_standstill_ms: the group stopped, reason, stopped",
        {"generation": str},
        "Members",
    )
