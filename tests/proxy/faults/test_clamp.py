from __future__ import annotations

import pytest

from tests.proxy.faults.given import Examples, Row, fields_after, message

FETCH = {"versions": {"Fetch": 11}}
EXAMPLES = Examples(
    FETCH,
    rows=[Row("{versions: {Heartbeat: 1}}")],
    live=["{versions: {Heartbeat: 1}}"],
    subject=message("ApiVersions", "response", 0),
    about=("ApiVersions", "response"),
    refused=[
        ({"versions": 3}, "scenario:3: versions: "),
        ({"versions": {"Fetsh": 3}}, "did you mean 'Fetch'"),
        ({"versions": {}}, "versions: must not be empty"),
        ({"versions": {"Fetch": None}}, "Fetch: a version or range is missing, e.g. Fetch: 11"),
    ],
    unable=[(FETCH, message(), "clamp applies to ApiVersions responses")],
    applies=[
        (FETCH, ("ApiVersions", "response", 0), True),
        (FETCH, ("ApiVersions", "request", 0), False),
        (FETCH, ("Fetch", "response", 4), False),
    ],
)

OFFERED = [
    {"api_key": key, "min_version": low, "max_version": high}
    for key, low, high in ((0, 3, 11), (1, 4, 17), (3, 0, 12), (18, 0, 4))
]


@pytest.mark.parametrize("version", [0, 3, 4])
@pytest.mark.parametrize(("versions", "expected"), [
    ({"Fetch": 11, "produce": "5-7", "Metadata": "20+"}, [(0, 5, 7), (1, 4, 11), (18, 0, 4)]),
    ({"Metadata": 0, "Fetch": 3}, [(0, 3, 11), (3, 0, 0), (18, 0, 4)]),
])  # fmt: skip
def test_less_is_offered(versions: object, expected: object, version: int) -> None:
    subject = message("ApiVersions", "response", version, api_keys=OFFERED)
    offered = fields_after("clamp", {"versions": versions}, subject)["api_keys"]
    assert [(e["api_key"], e["min_version"], e["max_version"]) for e in offered] == expected
