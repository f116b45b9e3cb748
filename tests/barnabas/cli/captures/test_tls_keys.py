"""`--tls-keys FILE`: for all commands that read captures, and what is said where it does not fit."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import pytest

from barnabas.cli.captures.tls_keys import read_keys
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble
from tests.barnabas.cli.command import Ran, run
from tests.captures.tls.talk import SUITES, Ends
from tests.captures.traffic import ip_packet, segments, talk, write_pcap


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return tmp_path / "keys"


@pytest.fixture
def capture(tmp_path: Path, keys: Path) -> Path:
    """Two connections of TLS; one of them was captured from its middle on."""
    wires = [Ends(keys).wire(talk()) for _ in range(2)]
    found = [
        segments(wire, itertools.repeat(90), client=("10.0.0.1", port))
        for port, wire in zip((50000, 50001), wires, strict=True)
    ]
    packets = [ip_packet(segment) for segment in (*found[0], *found[1][40:])]
    return write_pcap(tmp_path / "f.pcap", packets)


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    found = segments(talk(), itertools.repeat(90), client=("10.0.0.1", 50000))
    return write_pcap(tmp_path / "plain.pcap", map(ip_packet, found))


def test_what_is_hidden_is_printed(capture: Path, keys: Path) -> None:
    result = run("decode", capture, "--json", "--tls-keys", keys)
    assert {row["correlation_id"] for row in result.rows} == set(range(1, 14))
    assert result.stderr.splitlines() == [
        "1 TLS connection decrypted",
        "1 TLS connection not decrypted: opened before the capture",
        "not Kafka, left out: 1 connection (1 TLS on port 19092)",
    ]


@pytest.mark.parametrize("suite", [None, (SUITES[1][0], "ECDHE-ECDSA-AES256-SHA")])
def test_what_can_not_be_read_is_said(suite: Any, keys: Path, tmp_path: Path) -> None:
    """The keys are none of this connection, or its suite is not read."""
    others = tmp_path / "others"
    Ends(others).wire(talk())
    wire = Ends(keys, *(suite or ())).wire(talk())
    capture = write_pcap(tmp_path / "f.pcap", map(ip_packet, segments(wire, itertools.repeat(90))))
    result = run("summary", capture, "--tls-keys", keys if suite else others)
    said = "1 TLS connection not decrypted: cipher suite 0xc00a"
    none = "the key log has no key of any of the TLS connections"
    assert result.stderr.splitlines()[0].startswith(said if suite else none)


def test_each_command_takes_it(capture: Path, plain: Path, keys: Path, tmp_path: Path) -> None:
    def told(*words: str | Path) -> Ran:
        result = run(*words, "--tls-keys", keys)
        assert "1 TLS connection decrypted\n" in result.stderr
        return result

    assert told("summary", capture).stdout.startswith("13 exchanges")
    assert told("summary", capture, "--json").document["exchanges"] == 13
    found = told("grep", "-F", "orders", capture)
    assert (found.returncode, len(found.stdout.splitlines())) == (FINE, 18)
    assert told("diff", capture, plain).returncode == FINE
    assert "13 exchanges" in told("check", capture).stderr
    scenario = tmp_path / "slow.yaml"
    scenario.write_text(
        "version: 1\nrules: [{name: slow, match: {api: Metadata}, do: {delay: 1s}}]\n"
    )
    assert len(told("rehearse", scenario, capture).stdout.splitlines()) == 3
    live = ("replay", capture, "-b", "127.0.0.1:1")
    assert "can't reach the live cluster" in run(*live, "--tls-keys", keys).stderr
    serve = ("serve", capture, "-l", "192.0.2.1:1")
    assert "can't listen" in run(*serve, "--tls-keys", keys).stderr
    assert "no replayable requests" in run(*live).stderr
    assert "no recorded requests" in run(*serve).stderr
    assert run("grep", "nowhere", capture, "--tls-keys", keys).returncode == FINDINGS


def test_no_key_log_and_one_that_is_too_large(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Ends(keys).wire(talk())
    monkeypatch.setattr("barnabas.cli.captures.tls_keys._LIMIT", 100)
    assert read_keys(None) is None
    with pytest.raises(Trouble, match="give only the keys of the captured time"):
        read_keys(keys)


def test_without_the_package(capture: Path, keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "barnabas.captures.tls.protection", raising=False)
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(Trouble, match=r"barnabas with the extra 'capture'") as caught:
        read_keys(keys)
    assert caught.value.code == COULD_NOT_RUN
