"""The facts of an exchange's bodies that checks use, as the column `seen`, and back."""

from __future__ import annotations

from typing import Any, Final

from barnabas.captures.checks.facts import (
    BEGUN,
    FACTS,
    FLAWS,
    GROUP,
    PLACES,
    GroupFields,
    PartitionFacts,
)
from barnabas.captures.checks.flaws import Flaw
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.pipeline.rows.columns import STRUCTS

_NAMES: Final = tuple(fact.name for fact in FACTS)


def seen(exchange: Exchange, context: Context) -> dict[str, Any]:
    """Return the column's value. Never raises, whatever the bodies contain."""
    value: dict[str, Any] = {fact.name: fact.of(exchange, context) for fact in FACTS}
    producer, group, places, flaws = (value[fact.name] for fact in (BEGUN, GROUP, PLACES, FLAWS))
    if flaws is not None:
        value[FLAWS.name] = [flaw._asdict() for flaw in flaws]
    if producer is not None:
        value[BEGUN.name] = {"producer_id": producer[0], "producer_epoch": producer[1]}
    if group is not None:
        value[GROUP.name] = {
            "request": _whole(group.request, "asked"),
            "response": _whole(group.response, "answered"),
        }
    if places is not None:
        value[PLACES.name] = [partition_facts._asdict() for partition_facts in places]
    return value


def facts(value: dict[str, Any] | None) -> dict[str, Any]:
    """Return the value of `Exchange.facts` for a value of the column; null has no facts."""
    values = dict.fromkeys(_NAMES) | (value or {})
    producer, group, places, flaws = (values[fact.name] for fact in (BEGUN, GROUP, PLACES, FLAWS))
    if flaws is not None:
        values[FLAWS.name] = tuple(Flaw(**flaw) for flaw in flaws)
    if producer is not None:
        values[BEGUN.name] = (producer["producer_id"], producer["producer_epoch"])
    if group is not None:
        values[GROUP.name] = GroupFields(_present(group["request"]), _present(group["response"]))
    if places is not None:
        values[PLACES.name] = tuple(PartitionFacts(**fields) for fields in places)
    return values


def _whole(values: dict[str, Any] | None, struct: str) -> dict[str, Any] | None:
    """Return a struct with all of its fields; a field that the message lacks is null."""
    if values is None:
        return None
    whole = {column.name: values.get(column.name) for column in STRUCTS[struct]}
    members = whole.get("members")
    if members is not None:
        whole["members"] = [_whole(member, "member") for member in members]
    return whole


def _present(values: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a struct without the fields that the message lacks."""
    if values is None:
        return None
    present = {name: value for name, value in values.items() if value is not None}
    if "members" in present:
        present["members"] = [_present(member) for member in present["members"]]
    return present
