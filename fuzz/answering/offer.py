"""Which versions the bench's broker offers, and how a case narrows them to those that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.specs import keys
from barnabas.specs.registry import api
from barnabas.specs.releases import offered

RELEASE: Final = "4.2"
"""The newest versions are this release's; the oldest are those that Kafka ever had."""

_NOT_OFFERED: Final = frozenset(
    (
        keys.GET_TELEMETRY_SUBSCRIPTIONS,
        keys.PUSH_TELEMETRY,
    )
)
"""Metrics would only come between."""

Offer = Mapping[int, tuple[int, int]]
"""API key -> oldest and newest version."""

EVERYTHING: Final[Offer] = {
    key: (api(key).versions[0], newest)
    for key, (_, newest) in offered(RELEASE).items()
    if key not in _NOT_OFFERED
}


def narrowed(key: int, version: int, offer: Offer = EVERYTHING) -> Offer:
    """So that a client which knows this version of an API uses it; ApiVersions begins at 0 still.

    >>> narrowed(1, 11)[1], narrowed(18, 2)[18]
    ((11, 11), (0, 2))
    """
    return {**offer, key: (0 if key == keys.API_VERSIONS else version, version)}
