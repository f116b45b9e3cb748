from __future__ import annotations

import json

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.cli.console.output import Output
from tests.bodies import reassignments


def exchange() -> Exchange:
    return Exchange(0, 1, "a:1", "app", 1, 45, 0, 1, 10, request_body=reassignments())


def test_a_body_that_is_too_large_is_said_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output()
    flagged: list[Exchange] = []
    output.flag = flagged.append
    output.exchange(exchange())
    output.json(exchange())
    line, row = capsys.readouterr().out.splitlines()
    assert "AlterPartitionReassignments v0" in line
    assert "(request too large to decode)" in line
    assert json.loads(row)["too_large"] == ["request"]
    assert (output.too_large, output.undecoded, flagged) == (2, 0, [])
