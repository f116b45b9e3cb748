"""What differs between schemas and declarations, planted and real."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.specs import api
from barnabas.specs.declaration import (
    FOREVER,
    Array,
    Field,
    Int8,
    Int16,
    Int32,
    NullableString,
    String,
)
from barnabas.specs.message import Message
from barnabas.specs.releases import RELEASES, offered
from tests.golden.definitions import DEFINITIONS
from tests.golden.release.differences import compare, differences
from tests.golden.release.kafka import Release, read

NEWEST = DEFINITIONS["releases"][-1]


def schema(*fields: dict[str, Any]) -> dict[str, Any]:
    facts = {"nullable": False, "compact": False}
    return {"fields": [facts | field for field in fields], "flexible": False}


COUNT = {"name": "count", "kind": "int32"}
TEXT = {"name": "text", "kind": "string", "nullable": True}
ROWS = {"name": "rows", "kind": "array", "element": {"kind": "struct", **schema(COUNT)}}
DEFAULTS: dict[str, Any] = {"count": -1, "text": None, "rows": [], "rows.count": 0}


def found(*declared: Field, versions: tuple[int, ...] = (0, 1)) -> list[str]:
    message = Message(*declared).of("Made", (0, 1), FOREVER)
    schemas = {version: schema(COUNT, TEXT, ROWS) for version in versions}
    made = {"versions": schemas, "defaults": DEFAULTS}
    return [str(one) for one in compare("Made", made, message, "4.0.0")]


COUNTED = "count" / Int32.default(-1)
TEXTED = "text" / NullableString.default(None)
ROWED = "rows" / Array("count" / Int32)


@pytest.mark.parametrize(
    ("declared", "difference"),
    [
        ((COUNTED, TEXTED, ROWED), None),
        (("count" / Int16.default(-1), TEXTED, ROWED), " count v0-1: kind is 'int32', declared 'int16'"),
        (("count" / Int32, TEXTED, ROWED), " count v0-1: default is -1, declared 0"),
        (("size" / Int32.default(-1), TEXTED, ROWED), " count v0-1: name is 'count', declared 'size'"),
        (("count" / Int32.tag(1).default(-1), TEXTED, ROWED), " count v0-1: tag is None, declared 1"),
        ((COUNTED, "text" / String, ROWED), " text v0-1: nullable is True, declared False"),
        ((COUNTED, "text" / NullableString.since(1).default(None), ROWED),
         " text v0: is not declared (string, nullable)"),
        ((COUNTED, TEXTED, "rows" / Array("count" / Int8)),
         " rows.count v0-1: kind is 'int32', declared 'int8'"),
        ((COUNTED, TEXTED), " rows.count v0-1: is not declared (int32)"),
        ((COUNTED, TEXTED, ROWED, "more" / Int8.since(1)), " more v1: is declared, and not there"),
        ((TEXTED, COUNTED, ROWED), " v0-1: has its fields in another order"),
    ],
)  # fmt: skip
def test_what_is_declared_otherwise_is_said(
    declared: tuple[Field, ...], difference: str | None
) -> None:
    told = found(*declared)
    if difference is None:
        assert told == []
    else:
        assert f"Made{difference}" in told


@pytest.fixture(scope="module")
def release() -> Release:
    return read("4.3.1")


@pytest.mark.needs_apache("4.3.1")
def test_of_a_release_before_the_newest_what_was_renamed_differs(release: Release) -> None:
    told = [str(one) for one in differences(release)]
    assert (
        "TxnOffsetCommitRequest generation_id v3-5: name is 'generation_id', declared "
        "'generation_id_or_member_epoch'" in told
    )
    assert all("name is" in one or "is declared as" in one for one in told)


@pytest.mark.needs_apache("4.3.1")
def test_new_apis_errors_and_versions_are_found(release: Release) -> None:
    fetch = next(one for one in release.apis if one["key"] == 1)
    last = api("Fetch").versions[1]
    known = offered(RELEASES[-1])
    later = Release(
        "99.0.0",
        [
            *(one for one in release.apis if one["key"] not in (1, 2)),
            fetch | {"oldest": 5, "said_oldest": 5, "newest": last + 2, "stable": last + 1},
            fetch | {"key": 999, "name": "Novelty", "newest": 4, "stable": 4},
        ],
        [(999, "NOVEL", True), *(one for one in release.errors if one[0] != 100)],
        {},
        {},
    )
    told = [str(one) for one in differences(later)]
    for expected in (
        "error 100: is declared as UNKNOWN_TOPIC_ID, and not there",
        "error 999: is not declared ('NOVEL', True)",
        "release: specs/releases.py does not know it; compared with the newest",
        f"API 1 Fetch v{last + 1}-{last + 2}: is not declared",
        f"API 1 Fetch: a broker offers 5-{last + 1}, in specs/releases.py {known[1][0]}-{known[1][1]}",
        f"API 2 ListOffsets: a broker offers nothing, in specs/releases.py {known[2][0]}-{known[2][1]}",
        "API 999 Novelty v4: is not declared",
    ):
        assert expected in told


@pytest.mark.needs_apache
def test_the_newest_release_is_as_it_is_declared() -> None:
    assert differences(read(NEWEST)) == []
