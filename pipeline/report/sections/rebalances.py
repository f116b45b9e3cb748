"""Rebalances of each group: who joined, who was late, how long delivery stood still."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from barnabas.pipeline.report.marks import EPOCH, marks, together
from barnabas.pipeline.report.parts import Drawn, Lanes, Results, Row, Said, Table, rest, rows
from barnabas.pipeline.report.plotting import member
from barnabas.pipeline.report.wording import duration, listed, name, utc

GROUPS, MEMBERS = 6, 30
"""What is drawn of many."""

LONG_MS: Final = 10_000
"""A standstill of so long is bad, not only odd."""

BAND: Final = ("capture", "generation")
"""What tells the generations of a group apart."""


def draw(results: Results) -> Drawn:
    """Lanes of members for a group; tables with a row for each generation, and for each member in it."""
    found = rows(results, "rebalances")
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in found:
        groups[name(row["group"])].append(row)
    ranked = sorted(groups, key=lambda group: (-len(groups[group]), group))
    remarks = rest(len(ranked) - GROUPS, "groups with less to show are in the tables only")
    lanes = []
    for group in ranked[:GROUPS]:
        members = [*dict.fromkeys(map(member, groups[group]))]
        if len(members) > MEMBERS:
            remarks.append(f"{group}: {len(members) - MEMBERS} members are in the tables only")
        shown = [row for row in groups[group] if member(row) in members[:MEMBERS]]
        lanes.append(Lanes(f"Group {group}", [*_lanes(group, shown)], [*_bands(groups[group])]))
    generations = [one for group in ranked for one in _generations(group, groups[group])]
    tables = [_table_of_generations(generations), _table(found)]
    return Drawn([*_said(groups)], lanes=lanes, tables=tables, remarks=remarks)


def _lanes(group: str, found: Sequence[Row]) -> Iterator[Row]:
    """A lane a member, an event a phase."""
    members: defaultdict[str, list[Row]] = defaultdict(list)
    for row in found:
        if row["start"] and row["end"]:
            members[name(row["member"])].append(row)
    for one, phases in members.items():
        yield {
            **marks({"group": group, "client_id": phases[0]["client_id"]}),
            "member": one,
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


def _bands(found: Sequence[Row]) -> Iterator[Row]:
    """A band a generation, until the next one of its capture begins."""
    known = sorted(_generations("", found), key=lambda one: (one["capture"], one["start"]))
    for one, following in pairwise([*known, None]):
        assert one is not None  # noqa: S101 - only the last is
        until = following and following["capture"] == one["capture"] and following["start"]
        yield {
            "generation": one["generation"],
            "from": _ns(one["start"]),
            "until": _ns(until) if until else None,
            "why": one["reasons"],
            "waited_for": listed(one["missed"] or one["late"]) if _late(one) else "",
            "standstill_ms": one["group_standstill_ms"],
            "late": _late(one),
        }


def _late(one: Row) -> Row | None:
    """As `barnabas.page.answers.views.Late` has it."""
    kind, who = ("absent", "missed_members") if one["missed"] else ("late", "late_members")
    return {"kind": kind, "members": one[who]} if one[who] else None


def _generations(group: str, found: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """What is said of each generation of a group, in the order of time."""
    by_generation: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in found:
        if row["generation"] is not None:
            by_generation[tuple(row[column] for column in BAND)].append(row)
    clients = {row["member"]: row["client_id"] for row in found}
    spans = {}
    for key, some in by_generation.items():
        known = [row["began_ts"] or row["start"] for row in some]
        spans[key] = (
            min(filter(None, known), default=None),
            max(filter(None, (row["end"] for row in some)), default=None),
        )
    for key in sorted(
        (key for key in by_generation if None not in spans[key]), key=lambda key: spans[key]
    ):
        some = by_generation[key]
        late = {name(row["member"]): name(row["client_id"]) for row in some if row["late"]}
        joined = [row for row in some if row["phase"] != "stopped"]
        missed = some[0]["missed"] or []
        yield {
            "group": group,
            "capture": some[0]["capture"],
            "generation": some[0]["generation"],
            "start": spans[key][0],
            "end": spans[key][1],
            "members": some[0]["members"] or len({row["member"] for row in joined}),
            "late": [*late.values()],
            "late_members": [*late],
            "missed": [name(clients.get(one) or one) for one in missed],
            "missed_members": missed,
            "join_ms": max((row["join_ms"] or 0 for row in joined), default=0) or None,
            "group_standstill_ms": max((row["group_standstill_ms"] or 0 for row in some), default=0)
            or None,
            "reasons": listed(row["reason"] for row in joined if row["reason"]),
        }


def _ns(moment: datetime) -> str:
    """As the live page has times: in ns since the epoch, as text."""
    return str((utc(moment) - EPOCH) // timedelta(microseconds=1) * 1000)


def _said(groups: dict[str, list[Row]]) -> Iterator[Said]:
    for group, found in groups.items():
        worst = max(found, key=lambda row: row["group_standstill_ms"] or 0)
        still = worst["group_standstill_ms"] or 0
        generations = {row["generation"] for row in found}
        known = [*_generations(group, found)]
        late = [f"{who} in generation {one['generation']}" for one in known for who in one["late"]]
        missed = [
            f"{who} missed generation {one['generation']}" for one in known for who in one["missed"]
        ]
        gone = [*_gone(found)]
        if still <= 0 and not late and not missed and not gone:
            continue
        text = f"group {group}: {len(generations)} generation{'s' * (len(generations) > 1)}"
        if still > 0:
            text += f", delivery stopped for up to {duration(still)}"
            text += f" (generation {worst['generation']})"
        if late:
            text += f"; late: {listed(late)}"
        if missed:
            text += f"; {listed(missed)}"
        if gone:
            text += f"; {listed(gone)}"
        yield Said("bad" if still >= LONG_MS else "odd", text, together(found))


def _gone(found: Sequence[Row]) -> Iterator[str]:
    """Clients that stopped more than once, and the reasons that they or the coordinator gave."""
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for row in found:
        if row["phase"] == "stopped":
            reasons[name(row["client_id"])].append(name(row["reason"]))
    for client, given in reasons.items():
        if len(given) > 1:
            yield f"{client} stopped {len(given)} times ({listed(given)})"


def _table_of_generations(found: Sequence[Row]) -> Table:
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
    return Table(columns, found, {"generation": str}, "Generations")


def _table(found: Sequence[Row]) -> Table:
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
    for row in found:
        key = (row["capture"], row["group"], row["generation"], row["member"], row["joined_ts"])
        shown = once.setdefault(key, {**row, "stopped": None})
        shown["end"] = max(filter(None, (shown["end"], row["end"])), default=None)
        if row["phase"] == "stopped":
            shown["stopped"] = row["reason"]
    return Table(columns, [*once.values()], {"generation": str}, "Members")
