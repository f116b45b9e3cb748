"""A line of JSON is what `decode --json` prints, byte for byte."""

from __future__ import annotations

from typer.testing import CliRunner

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.json_line import json_line
from barnabas.cli.app import app
from tests.captures.test_samples import FOLDER


def test_it_is_the_line_of_decode() -> None:
    path = FOLDER / "transactions.pcapng"
    capture = open_capture(path)
    lines = [json_line(each, capture.context) for each in capture.learn(capture.exchanges())]
    result = CliRunner().invoke(app, ["decode", "--json", "--bodies", "full", str(path)])
    assert result.stdout.splitlines() == lines
    assert any('"context":' in line for line in lines)
    assert any('"inside":' in line for line in lines)
