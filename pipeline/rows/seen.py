"""What checks see of an exchange's bodies, as the column `seen`, and back."""

from __future__ import annotations

from typing import Any, Final

from barnabas.captures.checks.facts import BEGUN, FACTS, FLAWS, GROUP, PLACES, Place, Said
from barnabas.captures.checks.flaws import Flaw
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.pipeline.rows.columns import STRUCTS

_NAMES: Final = tuple(fact.name for fact in FACTS)


def seen(exchange: Exchange, context: Context) -> dict[str, Any]:
    """The column's value. Never raises, whatever the bodies hold."""
    found: dict[str, Any] = {fact.name: fact.of(exchange, context) for fact in FACTS}
    begun, group, places, flaws = (found[fact.name] for fact in (BEGUN, GROUP, PLACES, FLAWS))
    if flaws is not None:
        found[FLAWS.name] = [flaw._asdict() for flaw in flaws]
    if begun is not None:
        found[BEGUN.name] = {"producer_id": begun[0], "producer_epoch": begun[1]}
    if group is not None:
        found[GROUP.name] = {
            "request": _whole(group.request, "asked"),
            "response": _whole(group.response, "answered"),
        }
    if places is not None:
        found[PLACES.name] = [place._asdict() for place in places]
    return found


def facts(value: dict[str, Any] | None) -> dict[str, Any]:
    """What `Exchange.facts` is, of such a value; null says nothing."""
    found = dict.fromkeys(_NAMES) | (value or {})
    begun, group, places, flaws = (found[fact.name] for fact in (BEGUN, GROUP, PLACES, FLAWS))
    if flaws is not None:
        found[FLAWS.name] = tuple(Flaw(**flaw) for flaw in flaws)
    if begun is not None:
        found[BEGUN.name] = (begun["producer_id"], begun["producer_epoch"])
    if group is not None:
        found[GROUP.name] = Said(_said(group["request"]), _said(group["response"]))
    if places is not None:
        found[PLACES.name] = tuple(Place(**place) for place in places)
    return found


def _whole(values: dict[str, Any] | None, struct: str) -> dict[str, Any] | None:
    """With all of a struct's fields; null for what the message has not."""
    if values is None:
        return None
    found = {column.name: values.get(column.name) for column in STRUCTS[struct]}
    members = found.get("members")
    if members is not None:
        found["members"] = [_whole(one, "member") for one in members]
    return found


def _said(values: dict[str, Any] | None) -> dict[str, Any] | None:
    """Without what the message has not."""
    if values is None:
        return None
    found = {name: value for name, value in values.items() if value is not None}
    if "members" in found:
        found["members"] = [_said(one) for one in found["members"]]
    return found
