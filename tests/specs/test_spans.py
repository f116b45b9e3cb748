"""Where fields stand in a body: what is cut out at the spans is what the decoder reads there."""

from __future__ import annotations

import pytest

from barnabas.specs import Malformed, api
from barnabas.specs.codec.spans import spans


@pytest.mark.parametrize("version", [0, 1, 2])
def test_strings_bytes_and_nulls(version: int) -> None:
    message = api("AlterConfigs").request
    configs = [{"name": "a", "value": "secret"}, {"name": "b", "value": None}]
    resources = [{"resource_type": 2, "resource_name": "t", "configs": configs}] * 2
    body = message.codec(version).encode({"resources": resources, "validate_only": False})
    found = spans(message.layout(version), body, ("resources.configs.value",))
    assert [(span.path, span.field) for span in found] == [
        (f"resources[{n}].configs[0].value", "resources.configs.value") for n in range(2)
    ]
    assert {body[span.start : span.end] for span in found} == {b"secret"}


def test_what_stands_behind_comes_last() -> None:
    layout = api("SaslAuthenticate").request.layout(0)
    found = spans(layout, bytes.fromhex("00000002 4142 434445"), ("auth_bytes",))
    assert [(span.path, span.start, span.end) for span in found] == [
        ("auth_bytes", 4, 6),
        ("", 6, 9),
    ]


def test_odd_bytes_are_read_and_broken_ones_refused() -> None:
    layout = api("SaslAuthenticate").request.layout(2)
    # an overlong varint in front
    (span,) = spans(layout, bytes.fromhex("8300 4142 00"), ("auth_bytes",))
    assert (span.start, span.end) == (2, 4)
    with pytest.raises(Malformed):
        spans(layout, bytes.fromhex("09 4142"), ("auth_bytes",))
