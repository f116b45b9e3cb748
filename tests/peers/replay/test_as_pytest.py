"""Exchanges as a file for pytest: it holds what was seen, and fails where a cluster answers otherwise."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.peers.replay.as_pytest import MOST, NoTest, as_pytest
from barnabas.testing import start_proxy
from tests.places import SAMPLES

BUSY = """
version: 1
rules:
- name: busy
  match: {api: Produce, direction: request, partition: 0}
  when: {times: 1, scope: rule}
  do: {respond: {error: NOT_ENOUGH_REPLICAS}}
"""


def exchanges(name: str = "embedded.pcapng", *apis: str) -> list[Exchange]:
    capture = open_capture(SAMPLES / name)
    found = capture.learn(capture.exchanges())
    return [exchange for exchange in found if not apis or exchange.api in apis]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with EmbeddedCluster() as found:
        yield found.bootstrap


def outcome(text: str, folder: Path, bootstrap: str) -> tuple[int, str]:
    """Of the file, run by pytest."""
    path = folder / "test_it.py"
    path.write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)]
    command += ["--kafka-bootstrap-server", bootstrap]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return found.returncode, found.stdout


def test_it_passes_where_the_answers_are_the_same_and_fails_behind_a_rule(
    cluster: str, tmp_path: Path
) -> None:
    code, said = outcome(as_pytest(exchanges(), "embedded.pcapng"), tmp_path, cluster)
    assert code == 0, said
    text = as_pytest(exchanges("embedded.pcapng", "Produce", "Metadata"), "embedded.pcapng")
    (tmp_path / "proxy").mkdir()
    with start_proxy(cluster, tmp_path / "proxy", scenario=BUSY) as proxy:
        code, said = outcome(text, tmp_path, proxy.bootstrap_server)
        assert proxy.rule("busy").fired == 1
    assert code == 1
    differs = re.findall(r"^E +(Produce.*error_code.*)$", said, re.MULTILINE)
    place = "responses[orders].partition_responses[0].error_code"
    assert differs == [f"Produce v10 of writer: {place}: 0 ≠ 19"], said


def test_what_rules_did_is_done_again(cluster: str, tmp_path: Path) -> None:
    seen = exchanges("faults.pcapng", "Produce")[:2]
    assert [each.rules for each in seen] == [("the leader is busy",), ()]
    code, said = outcome(as_pytest(seen, "faults.pcapng", BUSY), tmp_path, cluster)
    assert code == 0, said
    code, said = outcome(as_pytest(seen, "faults.pcapng"), tmp_path, cluster)
    assert code == 1
    assert "error_code: 19 ≠ 0" in said


def test_it_says_what_is_not_asked_and_what_is_not_compared() -> None:
    seen = exchanges("embedded.pcapng", "ApiVersions", "Metadata", "Produce", "Fetch")
    seen[1].leave_out("request")
    produced = next(place for place, each in enumerate(seen) if each.api == "Produce")
    seen[produced] = replace(seen[produced], payload={"request": {"": "hash"}})
    answered = next(each for each in seen if each.api == "Fetch")
    answered.leave_out("response")
    text = as_pytest(seen, "a\nb")
    assert "# Not sent again: the replay does its own handshake (12).\n" in text
    assert "# Not sent again: its payload was removed from the capture (1).\n" in text
    assert "# Not sent again: its response was not kept or can't be read (1).\n" in text
    assert "exchanges of a\ufffdb.\n" in text
    ignored = ast.literal_eval(text.partition("NOT_COMPARED = ")[2].partition("\n\n")[0])
    assert "*time_ms" in ignored
    assert "cluster_id" in ignored
    assert "producer_id" not in ignored  # no answer has it


def test_what_strangers_say_is_text() -> None:
    evil = '\'); import os #\n"""{MOST}\\'
    seen = [replace(each, client_id=evil) for each in exchanges("embedded.pcapng", "Metadata")]
    tree = ast.parse(as_pytest(seen, '"""', evil))
    words = [one for one in ast.walk(tree) if isinstance(one, ast.keyword)]
    ids = [ast.literal_eval(word.value) for word in words if word.arg == "client_id"]
    assert ids == [evil] * len(seen)
    imported = [each for each in ast.walk(tree) if isinstance(each, ast.Import)]
    assert [each.names[0].name for each in imported] == ["pytest"]
    named = {
        ast.unparse(one.targets[0]): one.value for one in tree.body if isinstance(one, ast.Assign)
    }
    assert ast.literal_eval(named["SCENARIO"]) == evil


def test_of_nothing_or_too_much_there_is_no_test() -> None:
    with pytest.raises(NoTest, match="no exchange with a response"):
        as_pytest([], "x")
    with pytest.raises(NoTest, match=r"no exchange can be compared.* own handshake \(12\)"):
        as_pytest(exchanges("embedded.pcapng", "ApiVersions"), "x")
    one = exchanges("embedded.pcapng", "Metadata")[0]
    silent = replace(one, response_size=None, response_body=None, latency_ms=None)
    with pytest.raises(NoTest, match="no exchange with a response"):
        as_pytest([silent], "x")
    with pytest.raises(NoTest, match="choose fewer"):
        as_pytest([one] * (MOST + 1), "x")
