from __future__ import annotations

import pytest

from barnabas.proxy.effects import Become
from barnabas.proxy.faults.clamp import Clamp, clamp
from barnabas.proxy.matching.message import Unable
from barnabas.specs import api
from tests.proxy.faults.given import Examples, Row, message

EXAMPLES = Examples(
    {"versions": {"Fetch": 11}},
    rows=[Row("{versions: {Heartbeat: 1}}")],
    live=["{versions: {Heartbeat: 1}}"],
    subject=message("ApiVersions", "response", 0),
    about=("ApiVersions", "response"),
)

OFFERED = [
    {"api_key": key, "min_version": low, "max_version": high}
    for key, low, high in ((0, 3, 11), (1, 4, 17), (3, 0, 12), (18, 0, 4))
]


@pytest.mark.parametrize("version", [0, 3, 4])
def test_less_is_offered(version: int) -> None:
    subject = message("ApiVersions", "response", version, api_keys=OFFERED)
    config = Clamp.model_validate({"versions": {"Fetch": 11, "produce": "5-7", "Metadata": "20+"}})
    (effect,) = clamp(config, subject, float)
    assert isinstance(effect, Become)
    found = api("ApiVersions").response.codec(version).decode(effect.body)
    assert [(e["api_key"], e["min_version"], e["max_version"]) for e in found["api_keys"]] == [
        (0, 5, 7),
        (1, 4, 11),
        (18, 0, 4),
    ]


def test_other_messages_are_none_of_its_business() -> None:
    with pytest.raises(Unable, match="ApiVersions"):
        clamp(Clamp.model_validate({"versions": {"Fetch": 1}}), message(), float)
