"""Rules that are never asked, since an earlier one ends all that they are about."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from barnabas.proxy.faults import CONNECTIONS
from barnabas.proxy.faults.blackhole import Blackhole
from barnabas.proxy.faults.close import Close
from barnabas.proxy.faults.drop import Drop
from barnabas.proxy.faults.reset import Reset
from barnabas.proxy.matching.match import Match
from barnabas.proxy.matching.when import When
from barnabas.proxy.scenario.model import RuleConfig

_ENDS: Final = (Blackhole, Close, Drop, Reset)
"""Done to every message, whatever it is, and no later rule has a say about it."""

_PEERS: Final = {"api", "direction", "version", "client_id", "broker", "connection"}
"""What earlier rules can't change in a message."""


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
    conditions = rule.where is not None or rule.record is not None
    return not conditions and rule.when == When() and rule.match.model_fields_set <= _PEERS


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
