"""The demo as a person runs it, and its capture in other people's tools."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.cli import demo as demo_command
from barnabas.cli.demo.claims import all_arrived, in_order
from barnabas.trouble import COULD_NOT_RUN, Trouble
from tests.peers.kfake_absent import with_go

Demo = tuple[subprocess.CompletedProcess[str], Path]


MOCK = "librdkafka's mock"


@pytest.fixture(
    scope="module", params=[pytest.param("kfake", marks=pytest.mark.needs_go("kfake")), MOCK]
)
def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Run the demo on one of the clusters that `embedded` may be."""
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "barnabas", "demo", "--capture", str(folder / "demo.pcapng")]
    changes = with_go("go1.25", folder) if request.param == MOCK else {}
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **changes},
    )
    assert f": {request.param}" in result.stderr.splitlines()[0]
    return result, folder / "demo.pcapng"


def test_every_claim_held(demo: Demo) -> None:
    result, _ = demo
    assert result.returncode == 0, result.stderr
    assert "FAIL" not in result.stderr
    assert result.stderr.count("PASS  ") == 11
    assert "\x1b" not in result.stdout + result.stderr


def test_the_conversation_is_shown_a_line_an_exchange(demo: Demo) -> None:
    result, capture = demo
    exchanges = list(Conversations().exchanges(CaptureReader(capture)))
    assert len(result.stdout.splitlines()) == len(exchanges)
    for api in ("Produce", "Fetch", "JoinGroup", "OffsetCommit", "Metadata", "ApiVersions"):
        assert f" {api} v" in result.stdout
    assert "⟵ slow fetches" in result.stdout


@pytest.mark.needs_tshark
def test_wireshark_reads_the_capture(demo: Demo) -> None:
    _, capture = demo

    def tshark(*arguments: str) -> str:
        command = ["tshark", "-r", str(capture), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert tshark("-Y", "tcp.analysis.flags") == ""
    kafka = tshark("-d", "tcp.port==1024-65535,kafka", "-Y", "kafka")
    assert "Kafka Produce v" in kafka
    assert "Kafka JoinGroup v" in kafka
    assert "slow fetches" in tshark("-T", "fields", "-e", "frame.comment")


def test_a_claim_that_does_not_hold_says_so() -> None:
    sent = {0: ["a", "b"]}
    assert all_arrived("t", sent, {0: ["a", "b", "b"]}).held
    assert "1 of them twice" in all_arrived("t", sent, {0: ["a", "b", "b"]}).text
    assert not all_arrived("t", sent, {0: ["a"]}).held
    assert not all_arrived("t", sent, {0: ["a", "b", "c"]}).held
    assert in_order("t", sent, {0: ["a", "b", "a"]}).held
    assert not in_order("t", sent, {0: ["b", "a"]}).held


def test_a_step_that_does_not_end_is_not_said_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(*_: object) -> None:
        raise TimeoutError("3 of 9 records arrived in 20 s")

    monkeypatch.setattr(demo_command, "_run", stuck)
    with pytest.raises(Trouble, match="the demo did not finish: 3 of 9 records") as raised:
        demo_command.demo(tmp_path / "demo.pcapng")
    assert raised.value.code == COULD_NOT_RUN
