"""For every API, direction and version: what is built is read back; what is broken is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from barnabas import specs
from barnabas.specs.codec import Malformed
from tests.specs.strategies import mutated, values

EACH = settings(max_examples=5, database=None, suppress_health_check=list(HealthCheck))

MESSAGES = [
    pytest.param(name, direction, version, id=f"{name}-{direction}-v{version}")
    for key, name, _ in specs.REGISTRY
    for direction in ("request", "response")
    for version in range(specs.api(key).versions[1] + 1)
]


@pytest.mark.slow("a property of every message and version")
@pytest.mark.parametrize(("name", "direction", "version"), MESSAGES)
def test_build_then_parse_is_the_identity(name: str, direction: str, version: int) -> None:
    message = specs.api(name).message(direction)
    codec, reference = message.codec(version), message.at(version)

    @EACH
    @seed(1)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        built: dict[str, Any] = data.draw(values(codec.layout))
        body = codec.encode(built)
        assert repr(codec.decode(body)) == repr(built)
        assert reference.build(built) == body
        assert codec.inspect(body)[1] == []
        broken = data.draw(mutated(body))
        try:
            found = codec.decode(broken)
        except Malformed:
            return
        assert repr(codec.inspect(broken)[0]) == repr(found)

    check()
