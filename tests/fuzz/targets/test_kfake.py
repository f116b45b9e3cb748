"""franz-go's fake cluster as a target."""

from __future__ import annotations

import pytest

from barnabas.captures.kafka.errors import codes_in
from barnabas.fuzz.observations.exchanges import answer, exchanged
from barnabas.fuzz.targets.registry import target_of
from barnabas.specs.keys import METADATA
from tests.fuzz.observed import ASK, case


@pytest.mark.needs_go("franz-go@1.21.4")
@pytest.mark.timeout(600)
def test_it_answers_a_valid_request_and_takes_what_kafka_has() -> None:
    with target_of("kfake", False) as target:
        (found,) = target.run([case(ASK)])
        assert target.name.startswith("kfake ")
        assert METADATA in target.takes()  # type: ignore[attr-defined]
    (one,) = exchanged(found)[1]
    assert not any(codes_in(answer(one), METADATA, 1))
    assert found.ending == "open"
