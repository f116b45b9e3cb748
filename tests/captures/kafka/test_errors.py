from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from barnabas.captures.kafka.errors import error_paths, first_error
from barnabas.specs.registry import REGISTRY, api
from tests.captures.kafka.context.exchanges import golden


def test_tagged_errors_count() -> None:
    topic = {"name": "a", "topic_config_error_code": 29}
    body = api("CreateTopics").response.codec(5).encode({"topics": [topic]})
    assert first_error(19, 5, body) == 29


def test_other_numbers_are_no_errors() -> None:
    body = api("InitProducerId").response.codec(2).encode({"producer_epoch": 5})
    assert first_error(22, 2, body) == 0


def test_every_response_has_an_error_to_be_found() -> None:
    for key, name, _ in REGISTRY:
        low, high = api(key).versions
        without = [version for version in range(low, high + 1) if not error_paths(key, version)]
        assert not without, name


def test_golden_responses_give_the_error_that_their_bodies_show() -> None:
    def codes(value: Any) -> Iterator[int]:
        if isinstance(value, list):
            for inner in value:
                yield from codes(inner)
        elif isinstance(value, dict):
            for name, inner in value.items():
                if str(name).endswith("error_code"):
                    yield inner
                else:
                    yield from codes(inner)

    seen = 0
    for direction, one in golden():
        if direction == "response":
            body = one.response_body
            assert body is not None
            assert one.response is not None
            expected = next((code for code in codes(one.response) if code), 0)
            assert first_error(one.key, one.version, body) == expected
            assert first_error(one.key, one.version, body, one.response) == expected
            seen += bool(expected)
    assert seen > 1000
