"""Rules that may fire and yet do nothing, where that is certain: said when a scenario is loaded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel

from barnabas.proxy.faults import CONNECTIONS
from barnabas.proxy.faults.blackhole import Blackhole
from barnabas.proxy.faults.close import Close
from barnabas.proxy.faults.delay import Delay
from barnabas.proxy.faults.drop import Drop
from barnabas.proxy.faults.isolate import Isolate
from barnabas.proxy.faults.reset import Reset
from barnabas.proxy.faults.skew import Skew
from barnabas.proxy.faults.stall import Stall
from barnabas.proxy.matching.match import Match
from barnabas.proxy.matching.units import TIMES
from barnabas.proxy.matching.when import When

if TYPE_CHECKING:
    from barnabas.proxy.scenario.model import RuleConfig

_ENDS: Final = (Blackhole, Close, Drop, Reset)
"""Done to every message, whatever it is, and no later rule has a say about it."""

_PEERS: Final = {"api", "direction", "version", "client_id", "broker", "connection"}
"""What earlier rules can't change in a message."""


def idle(rule: RuleConfig, rules: Sequence[RuleConfig]) -> Iterator[str]:
    """Why a rule, or a fault of it, does nothing."""
    when = rule.when
    if when.probability == 0 or (when.phases and not any(one.probability for one in when.phases)):
        yield "never fires but by `barnabas ctl rule fire`: its probability is 0"
        return
    waited_for = any(
        point is not None and point.rule == rule.name
        for other in rules
        for point in (other.when.after, other.when.until)
    )
    if len(rule.do) > 1 or not waited_for:  # else that it fires is what it is for
        for fault in rule.do:
            if setting := _nothing(fault.config):
                yield f"does nothing by {fault.name}: {setting} is 0"


def _nothing(config: BaseModel) -> str:
    """The setting of a fault that makes it do nothing; "" if it does something."""
    match config:
        case Delay(by=0, jitter=0):
            return "by"
        case Skew(by=by) if by // TIMES["ms"] == 0:
            return "by in whole ms"
        case Stall(time=0):
            return "time"
        case Isolate(lasts=0):
            return "lasts"
    return ""


def unreached(rules: Sequence[RuleConfig]) -> Iterator[tuple[RuleConfig, RuleConfig]]:
    """Rules that are never asked, each with an earlier one that ends all their messages."""
    ending: list[RuleConfig] = []
    for rule in rules:
        if not isinstance(rule.do[0].config, CONNECTIONS):
            before = next((one for one in ending if _covers(one.match, rule.match)), None)
            if before is not None:
                yield rule, before
        if _always(rule) and any(isinstance(fault.config, _ENDS) for fault in rule.do):
            ending.append(rule)


def _always(rule: RuleConfig) -> bool:
    """Whether it fires on every message of the kinds, and between the peers, that it names."""
    return rule.where is None and rule.when == When() and rule.match.model_fields_set <= _PEERS


def _covers(wide: Match, narrow: Match) -> bool:
    """Whether the first, which names kinds and peers only, is about all that the second is about."""
    pairs: list[tuple[Collection[object] | None, Collection[object] | None]] = [
        (wide.api, narrow.api),
        (wide.direction and {wide.direction}, narrow.direction and {narrow.direction}),
        (wide.client_id, narrow.client_id),
        (wide.broker, narrow.broker),
        (wide.connection, narrow.connection),
        (_span(wide), _span(narrow)),
    ]
    return all(
        these is None or (those is not None and set(those) <= set(these)) for these, those in pairs
    )


def _span(match: Match) -> range | None:
    return None if match.version is None else range(match.version[0], match.version[1] + 1)
