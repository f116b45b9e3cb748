"""The ranges of each release, against its own definitions or its own tables."""

from __future__ import annotations

import re

import pytest

from barnabas.specs.releases import RELEASES, Range, offered
from tests.golden.definitions import DEFINITIONS
from tests.places import GOLDEN

OLD = dict(line.split(" ", 1) for line in (GOLDEN / "api_ranges.txt").read_text().splitlines())
"""What kafka-clients before 2.3 have in their tables: release -> `key:oldest-newest ...`."""


def minor(release: str) -> str:
    numbers = release.split(".")
    return ".".join(numbers[:3] if numbers[0] == "0" else numbers[:2])


def numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def by_definitions(release: str) -> dict[int, Range]:
    found = {}
    for name, message in DEFINITIONS["messages"].items():
        for entry in message["defs"] if name.endswith("Request") else ():
            if not numbers(entry["from"]) <= numbers(release) <= numbers(entry["to"]):
                continue
            definition = entry["def"]
            valid = definition["validVersions"]
            where = definition.get("listeners", ["broker"])
            if valid == "none" or not {"broker", "zkBroker"} & set(where):
                continue
            oldest, _, newest = valid.partition("-")
            last = int(newest or oldest) - bool(definition.get("latestVersionUnstable"))
            if last >= int(oldest):
                found[definition["apiKey"]] = int(oldest), last
    if numbers(release) >= (4,):
        found[0] = 0, found[0][1]  # KAFKA-18659
    return found


@pytest.mark.parametrize("release", DEFINITIONS["releases"])
def test_a_release_with_definitions(release: str) -> None:
    assert offered(release) == by_definitions(release)


@pytest.mark.parametrize("release", OLD)
def test_a_release_before_them(release: str) -> None:
    ranges = (entry.split(":") for entry in OLD[release].split())
    expected = {int(key): tuple(map(int, found.split("-"))) for key, found in ranges}
    assert offered(release) == expected


def test_all_releases_are_checked() -> None:
    checked = [minor(release) for release in (*OLD, *DEFINITIONS["releases"])]
    assert checked == list(RELEASES)


@pytest.mark.parametrize("release", ["0.9", "0.8.2", "99.0", "", "two", "4"])
def test_a_release_that_is_not_known(release: str) -> None:
    with pytest.raises(LookupError, match=rf"known are 0\.10\.0 to {re.escape(RELEASES[-1])}$"):
        offered(release)
