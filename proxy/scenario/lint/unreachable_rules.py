"""Finds rules that are never asked, since an earlier rule ends all their messages."""

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
"""Faults that end every message, so that no later rule applies to it."""

_PEERS: Final = {"api", "direction", "version", "client_id", "broker", "connection"}
"""The attributes of a message that earlier rules cannot change."""


def unreached(rules: Sequence[RuleConfig]) -> Iterator[tuple[RuleConfig, RuleConfig]]:
    """Yield rules that are never asked, each with an earlier one that ends all their messages."""
    ending: list[RuleConfig] = []
    for rule in rules:
        if not isinstance(rule.do[0].config, CONNECTIONS):
            before = next(
                (earlier for earlier in ending if _covers(earlier.match, rule.match)), None
            )
            if before is not None:
                yield rule, before
        if _always(rule) and any(isinstance(fault.config, _ENDS) for fault in rule.do):
            ending.append(rule)


def _always(rule: RuleConfig) -> bool:
    """Return whether a rule fires on every message of its APIs, directions, versions and peers."""
    conditions = rule.where is not None or rule.record is not None
    return not conditions and rule.when == When() and rule.match.model_fields_set <= _PEERS


def _covers(wide: Match, narrow: Match) -> bool:
    """Return whether all messages that `narrow` matches also match `wide`, which has no other condition."""
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
