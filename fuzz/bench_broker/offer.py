"""The versions that the bench's broker offers, and how a case narrows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.specs import keys
from barnabas.specs.registry import api
from barnabas.specs.releases import RELEASES, offered

RELEASE: Final = RELEASES[-1]
"""The newest versions are this release's; the oldest are those that Kafka ever had."""

_SINCE_KIP_890: Final = {keys.PRODUCE: 12, keys.TXN_OFFSET_COMMIT: 5, keys.END_TXN: 5}
"""API key -> the first version for transactions of version 2."""

_ENROLLING: Final = frozenset((keys.ADD_PARTITIONS_TO_TXN, keys.ADD_OFFSETS_TO_TXN))
"""APIs that clients use only in transactions of version 1."""

Offer = Mapping[int, tuple[int, int]]
"""API key -> oldest and newest version."""

EVERYTHING: Final[Offer] = {
    key: (api(key).versions[0], newest) for key, (_, newest) in offered(RELEASE).items()
}

FIRST_TRANSACTIONS: Final[Offer] = {
    **EVERYTHING,
    keys.END_TXN: (0, _SINCE_KIP_890[keys.END_TXN] - 1),
}
"""The versions of a broker with transactions of version 1."""


def narrowed(key: int, version: int, offer: Offer = EVERYTHING) -> Offer:
    """Return an offer in which a client that supports this version of an API must use it.

    ApiVersions still begins at 0.

    >>> narrowed(1, 11)[1], narrowed(18, 2)[18]
    ((11, 11), (0, 2))
    """
    if key in _ENROLLING:
        offer = {**offer, keys.END_TXN: FIRST_TRANSACTIONS[keys.END_TXN]}
    return {**offer, key: (0 if key == keys.API_VERSIONS else version, version)}


def features(offer: Offer) -> dict[str, int]:
    """Return the feature levels (KIP-584) of a broker with these versions.

    >>> features(EVERYTHING)["transaction.version"], features(FIRST_TRANSACTIONS)["transaction.version"]
    (2, 0)
    """
    newest = {key: high for key, (_, high) in offer.items()}
    second = all(newest.get(key, -1) >= since for key, since in _SINCE_KIP_890.items())
    return {
        "group.version": 1,  # KIP-848
        "share.version": 1,  # KIP-932
        "transaction.version": 2 if second else 0,  # KIP-890
    }
