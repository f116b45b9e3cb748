"""Answers are JSON, whatever number a body had."""

from __future__ import annotations

import json
import math
from typing import Any

from barnabas.proxy.control.bodies import json_response
from barnabas.specs.json_text import number


def test_an_answer_is_json_though_a_body_has_numbers_that_json_lacks() -> None:
    def refuse(name: str) -> Any:
        raise AssertionError(name)

    odd = [number(value) for value in (math.nan, math.inf, -math.inf, 0.5)]
    answer = json_response({"NaN": "Infinity", "values": odd})
    found = json.loads(bytes(answer.body), parse_constant=refuse)
    assert found == {"NaN": "Infinity", "values": ["NaN", "Infinity", "-Infinity", 0.5]}
