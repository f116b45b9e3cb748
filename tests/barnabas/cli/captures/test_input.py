from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from typer.testing import CliRunner

from barnabas.cli.app import app
from barnabas.trouble import MISUSE, Trouble
from tests.captures.traffic import ip_packet, segments, talk, write_pcap


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A capture that goes on with what is no packet."""
    packets = [ip_packet(segment) for segment in segments(talk(), itertools.repeat(90))]
    path = write_pcap(tmp_path / "f.pcap", packets)
    path.write_bytes(path.read_bytes() + b"\xff" * 16)
    return path


@pytest.mark.parametrize(
    "command",
    [
        "summary F",
        "diff F F",
        "grep x F",
        "serve F -l 127.0.0.1:0",
        "check F",
        "replay F -b [::1]:1",
    ],
    ids=lambda command: command.split()[0],
)
def test_damage_is_named(damaged: Path, command: str) -> None:
    words = command.replace("F", str(damaged)).split()
    with pytest.raises(Trouble, match=r"f\.pcap is damaged: byte \d+: ") as caught:
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert caught.value.code == MISUSE
