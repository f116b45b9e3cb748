"""Narrowed ApiVersions: to given maxima, or to an older release."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.proxy.edits.edits import narrow
from barnabas.proxy.edits.version_ranges import Offer
from barnabas.specs import NAMES, api
from barnabas.specs.releases import RELEASES, offered

Ranges = dict[int, tuple[int, int]]


def said(ranges: Ranges, version: int = 3, **more: Any) -> bytes:
    """Return the body of a broker's ApiVersions response."""
    keys = [{"api_key": k, "min_version": a, "max_version": b} for k, (a, b) in ranges.items()]
    return api("ApiVersions").response.codec(version).encode({"api_keys": keys, **more})


def heard(body: bytes, version: int = 3) -> dict[str, Any]:
    return api("ApiVersions").response.codec(version).decode(body)


def ranges(values: dict[str, Any]) -> Ranges:
    return {x["api_key"]: (x["min_version"], x["max_version"]) for x in values["api_keys"]}


def seen(broker: Ranges, offer: Offer) -> Ranges:
    """Return the ranges of a broker that a client sees."""
    body = said(broker)
    return ranges(heard(narrow(3, body, offer) or body))


NEW: Ranges = {0: (0, 13), 1: (4, 18), 3: (0, 13), 18: (0, 4), 68: (0, 1)}


@pytest.mark.parametrize(
    ("release", "newest", "expected"),
    [
        (None, {}, NEW),
        (None, {1: 11}, NEW | {1: (4, 11)}),
        (None, {1: 11, 0: 7}, NEW | {1: (4, 11), 0: (0, 7)}),
        (None, {1: 99}, NEW),
        (None, {1: 3}, {k: v for k, v in NEW.items() if k != 1}),  # the broker begins at 4
        ("2.8", {}, {0: (0, 9), 1: (4, 12), 3: (0, 11), 18: (0, 3)}),
        ("2.8.1", {3: 5}, {0: (0, 9), 1: (4, 12), 3: (0, 5), 18: (0, 3)}),
        ("4.0", {}, NEW | {0: (0, 12), 1: (4, 17)}),
        ("0.10.0", {}, {0: (0, 2), 3: (0, 1), 18: (0, 0)}),  # of Fetch there is none in common
    ],
)
def test_ranges_are_those_that_all_sides_have(
    release: str | None, newest: dict[int, int], expected: Ranges
) -> None:
    assert seen(NEW, Offer(release, newest)) == expected


@pytest.mark.parametrize("release", RELEASES)
def test_an_offer_is_within_what_the_release_had(release: str) -> None:
    there = offered(release)
    everything = {key: api(key).versions for key in NAMES}
    for key, (low, high) in seen(everything, Offer(release)).items():
        assert there[key][0] <= low <= high <= there[key][1]


UNSTABLE = {key: api(key).versions for key in NAMES if api(key).stable < api(key).versions[1]}


def test_versions_that_no_release_has_made_final_are_offered_on_request_only() -> None:
    assert UNSTABLE  # InitProducerId v6 has been in Kafka since 4.1
    final = {key: (low, api(key).stable) for key, (low, _) in UNSTABLE.items()}
    assert seen(UNSTABLE, Offer()) == {key: one for key, one in final.items() if one[1] >= 0}
    assert seen(UNSTABLE, Offer(unstable=True)) == UNSTABLE


SUPPORTED = [
    {"name": "metadata.version", "min_version": 7, "max_version": 30},
    {"name": "kraft.version", "min_version": 0, "max_version": 1},
    {"name": "group.version", "min_version": 0, "max_version": 1},
]
FINALIZED = [
    {"name": "metadata.version", "min_version_level": 30, "max_version_level": 30},
    {"name": "transaction.version", "min_version_level": 2, "max_version_level": 2},
]


def features_seen(offer: Offer, **more: Any) -> tuple[Any, Any]:
    """Return the features of a broker that a client sees: the ranges of versions, and those in force."""
    body = said(NEW, **{"supported_features": SUPPORTED, "finalized_features": FINALIZED, **more})
    values = heard(narrow(3, body, offer) or body)
    supported = {
        x["name"]: (x["min_version"], x["max_version"]) for x in values["supported_features"]
    }
    levels = {
        x["name"]: (x["min_version_level"], x["max_version_level"])
        for x in values["finalized_features"]
    }
    return supported, levels


METADATA, KRAFT, GROUP = ("metadata.version", "kraft.version", "group.version")
LATER = [{"name": METADATA, "min_version": 22, "max_version": 30}]
TRANSACTION = {"transaction.version": (2, 2)}
ALL = ({METADATA: (7, 30), KRAFT: (0, 1), GROUP: (0, 1)}, {METADATA: (30, 30)} | TRANSACTION)


@pytest.mark.parametrize(("offer", "more", "expected"), [
    (Offer("2.8"), {}, ({}, {})),
    (Offer("3.9"), {}, ({METADATA: (7, 21), KRAFT: (0, 1)}, {METADATA: (21, 21)})),
    (Offer("3.9"), {"supported_features": LATER}, ({}, {METADATA: (21, 21)})),
    (Offer("4.3"), {}, ALL),
    (Offer(), {}, ALL),
    (Offer(newest={1: 5}), {}, ALL),
])  # fmt: skip
def test_features_that_came_later_are_not_shown(
    offer: Offer, more: dict[str, Any], expected: Any
) -> None:
    assert features_seen(offer, **more) == expected


def test_what_all_sides_have_is_no_edit() -> None:
    body = said(NEW, supported_features=SUPPORTED, finalized_features=FINALIZED)
    assert narrow(3, body, Offer()) is None
    assert narrow(0, said({18: (0, 0)}, 0), Offer("2.8")) is None
