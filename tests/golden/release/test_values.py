"""Values of each case: what is null, what is empty, what is sent."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.release.values import CASES, Values, completed

PLAIN = {"nullable": False, "compact": False}
INNER: dict[str, Any] = {"flexible": True, "fields": [
    PLAIN | {"name": "some_id", "kind": "int32"},
    PLAIN | {"name": "numbers", "kind": "array", "element": {"kind": "int32", "nullable": False}},
]}  # fmt: skip
SCHEMA: dict[str, Any] = {"flexible": True, "fields": [
    PLAIN | {"name": "text", "kind": "string", "nullable": True},
    PLAIN | {"name": "rows", "kind": "array", "nullable": True,
             "element": {"kind": "struct", "nullable": False, **INNER}},
    PLAIN | {"name": "late", "kind": "int16", "tag": 0},
]}  # fmt: skip
DEFAULTS: dict[str, Any] = {
    "text": None,
    "rows": [],
    "rows.some_id": 0,
    "rows.numbers": [],
    "late": 0,
}
NAMES = ("Text", "Rows", "SomeId", "Numbers", "Late")
DEFINED = dict(zip(("text", "rows", "some_id", "numbers", "late"),
                   ({"name": name} for name in NAMES), strict=True))  # fmt: skip


def made(case: str, seed: str = "1") -> dict[str, Any]:
    return Values(seed, case, 0, DEFAULTS, DEFINED, []).structure(SCHEMA)


def test_each_case_is_what_it_is_called() -> None:
    assert made("defaults") == {"text": None, "rows": []}
    assert made("nulls-all").items() >= {"text": None, "rows": None}.items()
    leaf = made("nulls-leaf")
    assert (leaf["text"], len(leaf["rows"])) == (None, 1)
    assert made("empties").items() >= {"text": "", "rows": []}.items()
    assert made("empties-leaf")["rows"][0]["numbers"] == []
    assert made("empties-mid")["rows"][0]["numbers"] == []
    full = made("full")
    assert full["text"] is not None
    assert full["rows"][0]["numbers"]
    assert "late" in full


@pytest.mark.parametrize("case", CASES)
def test_chance_depends_on_the_seed_alone(case: str) -> None:
    assert made(case) == made(case)
    if case not in ("defaults", "empties"):
        assert len({str(made(case, str(seed))) for seed in range(20)}) > 1


def test_what_a_converter_leaves_out_is_put_back() -> None:
    tags = [{"tag": 100, "data": "AA=="}]
    given = {"rows": [{"records": "AAEC", "_unknownTaggedFields": tags}], "late": 0}
    said = {"rows": [{"records": ""}]}
    assert completed(said, given) == {"rows": given["rows"]}
