"""`--tls-keys FILE`: for all commands that read captures, and what is said where it does not fit."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from barnabas.cli.app import app
from barnabas.cli.captures.remarks import HOW
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, MISUSE, Trouble
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


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)


def test_what_is_hidden_is_printed(capture: Path, keys: Path) -> None:
    result = run("decode", capture, "--json", "--tls-keys", keys)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert {row["correlation_id"] for row in rows} == set(range(1, 14))
    assert result.stderr.splitlines() == [
        "1 TLS connection decrypted",
        "1 TLS connection not decrypted: opened before the capture",
        "not Kafka, left out: 1 connection (1 TLS on port 19092)",
    ]


def test_without_keys_it_says_how_to_have_them(capture: Path) -> None:
    result = run("decode", capture)
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        HOW,
        "not Kafka, left out: 2 connections (2 TLS on port 19092)",
    ]


def test_keys_of_another_run(capture: Path, keys: Path, tmp_path: Path) -> None:
    others = tmp_path / "others"
    Ends(others).wire(talk())
    result = run("decode", capture, "--tls-keys", others)
    assert result.stdout == ""
    assert result.stderr.splitlines()[:2] == [
        "1 TLS connection not decrypted: keys not logged",
        "1 TLS connection not decrypted: opened before the capture",
    ]


def test_a_key_log_of_none_of_them(keys: Path, tmp_path: Path) -> None:
    others = tmp_path / "others"
    Ends(others).wire(talk())
    found = segments(Ends(keys).wire(talk()), itertools.repeat(90))
    capture = write_pcap(tmp_path / "f.pcap", map(ip_packet, found))
    result = run("decode", capture, "--tls-keys", others)
    assert result.stderr.splitlines()[0] == "the key log has no key of any of the TLS connections"


def test_a_suite_that_is_not_read(keys: Path, tmp_path: Path) -> None:
    ends = Ends(keys, SUITES[1][0], "ECDHE-ECDSA-AES256-SHA")
    found = segments(ends.wire(talk()), itertools.repeat(90))
    capture = write_pcap(tmp_path / "f.pcap", map(ip_packet, found))
    result = run("summary", capture, "--tls-keys", keys)
    assert "1 TLS connection not decrypted: cipher suite 0xc00a" in result.stderr


def test_each_command_takes_it(capture: Path, plain: Path, keys: Path, tmp_path: Path) -> None:
    def told(*words: str | Path) -> Result:
        result = run(*words, "--tls-keys", keys)
        assert "1 TLS connection decrypted\n" in result.stderr
        return result

    assert told("summary", capture).stdout.startswith("13 exchanges")
    assert json.loads(told("summary", capture, "--json").stdout)["exchanges"] == 13
    found = told("grep", "-F", "orders", capture)
    assert (found.exit_code, len(found.stdout.splitlines())) == (FINE, 18)
    assert told("diff", capture, plain).exit_code == FINE
    assert "13 exchanges" in told("check", capture).stderr
    scenario = tmp_path / "slow.yaml"
    scenario.write_text(
        "version: 1\nrules: [{name: slow, match: {api: Metadata}, do: {delay: 1s}}]\n"
    )
    assert len(told("rehearse", scenario, capture).stdout.splitlines()) == 3


def test_replay_and_serve_take_it(capture: Path, keys: Path) -> None:
    with pytest.raises(Trouble, match="can't reach the live cluster"):
        run("replay", capture, "--tls-keys", keys, "-b", "127.0.0.1:1")
    with pytest.raises(Trouble, match="can't listen"):
        run("serve", capture, "--tls-keys", keys, "-l", "192.0.2.1:1")
    for words in (("replay", capture, "-b", "127.0.0.1:1"), ("serve", capture)):
        with pytest.raises(Trouble, match=r"no replayable requests|no recorded requests"):
            run(*words)


def test_a_file_that_is_no_key_log(tmp_path: Path) -> None:
    (tmp_path / "notes").write_bytes(b"remember the milk\n\xff")
    for path, why in (
        (tmp_path / "notes", "no keys found; lines like"),
        (tmp_path, "Is a directory"),
        (tmp_path / "missing", "No such file"),
    ):
        with pytest.raises(Trouble, match=f"--tls-keys {path}: {why}") as caught:
            read_keys(path)
        assert caught.value.code == MISUSE
    assert read_keys(None) is None


def test_a_key_log_that_is_too_large(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Ends(keys).wire(talk())
    monkeypatch.setattr("barnabas.cli.captures.tls_keys._LIMIT", 100)
    with pytest.raises(Trouble, match="give only the keys of the captured time"):
        read_keys(keys)


def test_without_the_package(capture: Path, keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "barnabas.captures.tls.protection", raising=False)
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(Trouble, match=r"pip install 'barnabas\[capture\]'") as caught:
        read_keys(keys)
    assert caught.value.code == COULD_NOT_RUN


def test_it_is_for_captures() -> None:
    with pytest.raises(Trouble, match="--tls-keys applies to a capture file"):
        run("decode", "--request", "00", "--tls-keys", "keys")


def test_exit_codes_stay(capture: Path, keys: Path) -> None:
    assert run("grep", "nowhere", capture, "--tls-keys", keys).exit_code == FINDINGS
