"""The rebalances of each group: members that joined or were late, and how long delivery stopped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from barnabas.pipeline.report.marks import EPOCH, marks, together
from barnabas.pipeline.report.parts import (
    Content,
    Lanes,
    Results,
    Row,
    Statement,
    Table,
    rest,
    rows,
)
from barnabas.pipeline.report.plotting import member
from barnabas.pipeline.report.wording import duration, listed, name, utc

GROUPS, MEMBERS = 6, 30
"""The most groups, and members of a group, that are drawn."""

LONG_MS: Final = 10_000
"""A stop of this length is bad, not only odd."""

BAND: Final = ("capture", "generation")
"""The columns that identify a generation of a group."""


def draw(results: Results) -> Content:
    """Draw lanes of members for each group, and tables of generations and of members."""
    phase_rows = rows(results, "rebalances")
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in phase_rows:
        groups[name(row["group"])].append(row)
    ranked = sorted(groups, key=lambda group: (-len(groups[group]), group))
    remarks = rest(len(ranked) - GROUPS, "groups with less to show are in the tables only")
    lanes = []
    for group in ranked[:GROUPS]:
        members = [*dict.fromkeys(map(member, groups[group]))]
        if len(members) > MEMBERS:
            remarks.append(f"{group}: {len(members) - MEMBERS} members are in the tables only")
        drawn_rows = [row for row in groups[group] if member(row) in members[:MEMBERS]]
        lanes.append(
            Lanes(f"Group {group}", [*_lanes(group, drawn_rows)], [*_bands(groups[group])])
        )
    generations = [
        generation for group in ranked for generation in _generations(group, groups[group])
    ]
    tables = [_table_of_generations(generations), _table(phase_rows)]
    return Content([*_statements(groups)], lanes=lanes, tables=tables, remarks=remarks)


def _lanes(group: str, phase_rows: Sequence[Row]) -> Iterator[Row]:
    """Yield a lane for each member, with an event for each phase."""
    members: defaultdict[str, list[Row]] = defaultdict(list)
    for row in phase_rows:
        if row["start"] and row["end"]:
            members[name(row["member"])].append(row)
    for member_id, phases in members.items():
        yield {
            **marks({"group": group, "client_id": phases[0]["client_id"]}),
            "member": member_id,
            "instance": member(phases[0]),
            "events": [
                {
                    "api": row["phase"],
                    "start": _ns(row["start"]),
                    "end": _ns(row["end"]),
                    "generation": row["generation"],
                    "reason": row["reason"],
                }
                for row in phases
            ],
        }


def _bands(phase_rows: Sequence[Row]) -> Iterator[Row]:
    """Yield a band for each generation, until the next one of its capture begins."""
    in_order = sorted(
        _generations("", phase_rows),
        key=lambda generation: (generation["capture"], generation["start"]),
    )
    for generation, following in pairwise([*in_order, None]):
        assert generation is not None  # noqa: S101 - only the last is
        until = following and following["capture"] == generation["capture"] and following["start"]
        yield {
            "generation": generation["generation"],
            "from": _ns(generation["start"]),
            "until": _ns(until) if until else None,
            "why": generation["reasons"],
            "waited_for": listed(generation["missed"] or generation["late"])
            if _late(generation)
            else "",
            "standstill_ms": generation["group_standstill_ms"],
            "late": _late(generation),
        }


def _late(generation: Row) -> Row | None:
    """Return the late members, as `barnabas.page.answers.views.Late`."""
    kind, who = ("absent", "missed_members") if generation["missed"] else ("late", "late_members")
    return {"kind": kind, "members": generation[who]} if generation[who] else None


def _generations(group: str, phase_rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Yield the values of each generation of a group, ordered by time."""
    by_generation: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in phase_rows:
        if row["generation"] is not None:
            by_generation[tuple(row[column] for column in BAND)].append(row)
    clients = {row["member"]: row["client_id"] for row in phase_rows}
    spans = {}
    for key, generation_rows in by_generation.items():
        starts = [row["began_ts"] or row["start"] for row in generation_rows]
        spans[key] = (
            min(filter(None, starts), default=None),
            max(filter(None, (row["end"] for row in generation_rows)), default=None),
        )
    for key in sorted(
        (key for key in by_generation if None not in spans[key]), key=lambda key: spans[key]
    ):
        generation_rows = by_generation[key]
        late = {
            name(row["member"]): name(row["client_id"]) for row in generation_rows if row["late"]
        }
        joined = [row for row in generation_rows if row["phase"] != "stopped"]
        missed = generation_rows[0]["missed"] or []
        yield {
            "group": group,
            "capture": generation_rows[0]["capture"],
            "generation": generation_rows[0]["generation"],
            "start": spans[key][0],
            "end": spans[key][1],
            "members": generation_rows[0]["members"] or len({row["member"] for row in joined}),
            "late": [*late.values()],
            "late_members": [*late],
            "missed": [name(clients.get(member_id) or member_id) for member_id in missed],
            "missed_members": missed,
            "join_ms": max((row["join_ms"] or 0 for row in joined), default=0) or None,
            "group_standstill_ms": max(
                (row["group_standstill_ms"] or 0 for row in generation_rows), default=0
            )
            or None,
            "reasons": listed(row["reason"] for row in joined if row["reason"]),
        }


def _ns(moment: datetime) -> str:
    """Return ns since the epoch as text, the live page's format."""
    return str((utc(moment) - EPOCH) // timedelta(microseconds=1) * 1000)


def _statements(groups: dict[str, list[Row]]) -> Iterator[Statement]:
    for group, phase_rows in groups.items():
        worst = max(phase_rows, key=lambda row: row["group_standstill_ms"] or 0)
        still = worst["group_standstill_ms"] or 0
        generations = {row["generation"] for row in phase_rows}
        all_generations = [*_generations(group, phase_rows)]
        late = [
            f"{who} in generation {generation['generation']}"
            for generation in all_generations
            for who in generation["late"]
        ]
        missed = [
            f"{who} missed generation {generation['generation']}"
            for generation in all_generations
            for who in generation["missed"]
        ]
        stops = [*_repeated_stops(phase_rows)]
        if still <= 0 and not late and not missed and not stops:
            continue
        text = f"group {group}: {len(generations)} generation{'s' * (len(generations) > 1)}"
        if still > 0:
            text += f", delivery stopped for up to {duration(still)}"
            text += f" (generation {worst['generation']})"
        if late:
            text += f"; late: {listed(late)}"
        if missed:
            text += f"; {listed(missed)}"
        if stops:
            text += f"; {listed(stops)}"
        yield Statement("bad" if still >= LONG_MS else "odd", text, together(phase_rows))


def _repeated_stops(phase_rows: Sequence[Row]) -> Iterator[str]:
    """Yield clients that stopped more than once, with the reasons from them or the coordinator."""
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for row in phase_rows:
        if row["phase"] == "stopped":
            reasons[name(row["client_id"])].append(name(row["reason"]))
    for client, client_reasons in reasons.items():
        if len(client_reasons) > 1:
            yield f"{client} stopped {len(client_reasons)} times ({listed(client_reasons)})"


def _table_of_generations(generation_rows: Sequence[Row]) -> Table:
    columns = {
        "group": "group",
        "generation": "generation",
        "start": "began",
        "members": "members",
        "late": "late",
        "missed": "missed by",
        "join_ms": "longest join",
        "group_standstill_ms": "the group stopped",
        "reasons": "reasons",
    }
    return Table(columns, generation_rows, {"generation": str}, "Generations")


def _table(phase_rows: Sequence[Row]) -> Table:
    columns = {
        "group": "group",
        "generation": "generation",
        "client_id": "client",
        "member": "member",
        "joined_ts": "joined",
        "join_ms": "join took",
        "sync_ms": "sync took",
        "late": "late",
        "standstill_ms": "the member stopped",
        "group_standstill_ms": "the group stopped",
        "reason": "reason",
        "stopped": "stopped",
    }
    once: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in phase_rows:
        key = (row["capture"], row["group"], row["generation"], row["member"], row["joined_ts"])
        member_row = once.setdefault(key, {**row, "stopped": None})
        member_row["end"] = max(filter(None, (member_row["end"], row["end"])), default=None)
        if row["phase"] == "stopped":
            member_row["stopped"] = row["reason"]
    return Table(columns, [*once.values()], {"generation": str}, "Members")
