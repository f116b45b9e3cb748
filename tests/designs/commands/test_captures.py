"""`barnabas decode` and `barnabas check` of captures in which a draft is spoken."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from barnabas.captures.checks.dialect_checks import dialect_checks
from barnabas.captures.host_port import endpoint_text
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.cli.app import app
from barnabas.designs.brokers.listener import Address
from barnabas.designs.central_coordination.peers.client import Client
from barnabas.designs.central_coordination.peers.server import Cluster
from barnabas.designs.central_coordination.peers.settings import BrokerSettings, ConsumerSettings
from barnabas.designs.protocol_guide.client_0_8 import Client as RecordsClient
from barnabas.designs.protocol_guide.client_0_8 import Message
from barnabas.harness import Harness
from barnabas.proxy.scenario.file import loads
from barnabas.specs.dialects import dialects
from barnabas.trouble import Trouble
from tests.designs.brokers.logs.broker import with_broker
from tests.designs.faults import captured
from tests.waiting import eventually

SCENARIO = "version: 1\ndialect: central-coordination\nrules: []\n"


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A consumer registers through the proxy, is started, and its twin is refused."""
    path = tmp_path_factory.mktemp("draft") / "f.pcapng"

    async def work() -> None:
        settings = BrokerSettings(min_session_timeout_ms=100)
        async with (
            Cluster(1, topics={"t": ("0-0",)}, settings=settings) as cluster,
            captured(cluster.bootstrap, SCENARIO, path) as proxy,
        ):
            about = ConsumerSettings("g", "c1", (proxy.proxy.address,), '{"t": 1}')
            first, twin = Client(about), Client(about)
            first.start()
            await eventually(lambda: first.fetching)
            twin.start()
            await eventually(lambda: bool(twin.core.refused))
            await first.stop()
            await twin.stop()

    asyncio.run(work())
    return path


def decode(*arguments: str | Path) -> tuple[int, list[str], str]:
    result = CliRunner().invoke(app, ["decode", *map(str, arguments)], catch_exceptions=False)
    return result.exit_code, result.stdout.splitlines(), result.stderr


def test_its_scenario_says_what_is_spoken(capture: Path) -> None:
    code, lines, said = decode(capture, "--json")
    rows = [json.loads(line) for line in lines]
    assert code == 0
    assert "central-coordination" in said
    first = {row["api"]: row for row in reversed(rows)}
    assert first.keys() >= {"ClusterMetadata", "RegisterConsumer", "StopFetcher", "StartFetcher"}
    assert first["RegisterConsumer"]["request"]["consumer_id"] == "c1"
    assert first["StartFetcher"]["client_id"] == "c1"
    (given,) = first["StartFetcher"]["request"]["offset_info"]
    assert (given["topic"], given["partition"]) == ("t", "0-0")
    assert any("DuplicateConsumerId" in line for line in decode(capture)[1])


def test_records_beside_it_are_decoded_and_one_without_acks_has_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "records.pcapng"

    def talk(address: Address) -> None:
        harness = Harness(endpoint_text(address), scenario=loads(SCENARIO), capture=path)
        with harness as proxy, RecordsClient([proxy.proxy.address]) as client:
            client.produce({("t", 0): [Message(None, b"v")]}, acks=0)
            client.fetch({("t", 0): 0}, max_wait_ms=5000)

    with_broker("central", tmp_path, talk)
    code, lines, said = decode(path, "--json")
    assert (code, "undecod" in said) == (0, False)
    rows = [json.loads(line) for line in lines]
    assert [(row["api"], row["response"] is None) for row in rows] == [
        ("Metadata", False),
        ("Produce", True),
        ("Fetch", False),
    ]
    assert any("no response (acks=0)" in line for line in decode(path)[1])


def test_what_is_no_draft_is_said(capture: Path) -> None:
    with pytest.raises(Trouble, match="no dialect is called 'klingon'; choose one of: central"):
        decode(capture, "--draft", "klingon")
    with pytest.raises(Trouble, match="this capture is central-coordination"):
        decode(capture, "--frames")


def summary(*arguments: str | Path) -> tuple[str, str]:
    result = CliRunner().invoke(app, ["summary", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout, result.stderr


def test_summary_has_its_apis_its_errors_and_its_groups(capture: Path) -> None:
    assert "read as the dialect central-coordination" in summary(capture)[1]
    document = json.loads(summary(capture, "--json")[0])
    assert document["api"]["RegisterConsumer"]["count"] == 2
    assert document["api"]["RegisterConsumer"]["errors"] == {"DuplicateConsumerId": 1}
    (row,) = document["group"]
    assert (row["group"], row["generation"], row["members"]) == ("g", 1, 1)
    assert (row["type"], row["why"]) == ("central-coordination", "c1 joined")


def test_check_runs_the_checks_of_drafts(capture: Path) -> None:
    """Not of a capture that says nothing, and `--draft` says it for one."""

    def names(*arguments: str) -> list[str]:
        requested = ["check", *arguments, "--format", "sarif"]
        result = CliRunner().invoke(app, requested, catch_exceptions=False)
        (run,) = json.loads(result.stdout)["runs"]
        return [rule["id"] for rule in run["tool"]["driver"]["rules"]]

    plain = capture.with_name("plain.pcapng")
    with CaptureWriter(plain, limit=None, meta={}):
        pass
    drafts = {check.name for check in dialect_checks(dialects())}
    assert drafts <= set(names(str(capture)))
    assert not drafts & set(names(str(plain)))
    assert drafts <= set(names(str(plain), "--draft", "central-coordination"))


@pytest.mark.parametrize(
    "scenario",
    [SCENARIO.replace("1", "2001-13-01"), "a: [", "dialect: [1]", "- 1", "[" * 1_000, ""],
    ids=["no date", "no YAML", "no name", "a list", "deep", "empty"],
)
def test_a_scenario_that_says_nothing_leaves_it_kafka(tmp_path: Path, scenario: str) -> None:
    path = tmp_path / "f.pcapng"
    with CaptureWriter(path, limit=None, meta={"scenario": scenario}):
        pass
    code, lines, said = decode(path)
    assert (code, lines) == (0, [])
    assert "read as" not in said


def test_frames_of_another_draft_are_counted_and_nothing_is_said_to_be_right(capture: Path) -> None:
    wrong = ["check", str(capture), "--draft", "rewrite-0.8.2"]
    result = CliRunner().invoke(app, wrong, catch_exceptions=False)
    assert "name it with --dialect" in result.stderr
    errors = re.search(r"(\d+) frames undecodable .*, content unknown", result.stderr)
    assert errors is not None
    document = CliRunner().invoke(app, [*wrong, "--format", "json"], catch_exceptions=False).stdout
    assert json.loads(document)["undecoded"] == int(errors[1]) > 0
    _, _, decoded = decode(capture, "--draft", "rewrite-0.8.2")
    assert errors[0] in decoded
