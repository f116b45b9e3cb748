"""What a package of somebody else adds: a dialect in all that reads it, a command, a kind, an experiment."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from barnabas.captures.kafka.context import Context
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.cli.app import app
from barnabas.page.declared import about
from barnabas.page.detail import detail
from barnabas.page.fields import body_fields
from barnabas.specs.dialects import dialect
from barnabas.trouble import Trouble
from tests.proxy.frames import Chunks, slicings
from tests.proxy.playbook import MS, START, Stage
from tests.specs.dialects.installed import installed

SCENARIO = """
version: 1
dialect: ledger
rules:
  - {name: late, match: {api: Transfer, direction: response, error: OVERDRAWN}, do: {delay: 5ms}}
  - name: less
    match: {api: Transfer, direction: request}
    where: amount > 50
    do: {edit: {set: {amount: 50}}}
"""


@pytest.fixture(scope="module", autouse=True)
def _ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with installed(tmp_path_factory.mktemp("site")):
        yield


def frame(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def transfer(number: int, account: str, amount: int) -> bytes:
    return frame(struct.pack(">hi", 3, number) + text(account) + struct.pack(">q", amount))


def transferred(number: int, error: int, balance: int) -> bytes:
    return frame(struct.pack(">ihq", number, error, balance))


def enroll(number: int, clerk: str) -> bytes:
    return frame(struct.pack(">hi", 11, number) + text("north") + text(clerk))


def enrolled(number: int, shift: int) -> bytes:
    return frame(struct.pack(">ihi", number, 0, shift))


def run(*arguments: str | Path, code: int = 0) -> str:
    done = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout


def written_capture(path: Path, scenario: str) -> Path:
    """Write a capture of a clerk who enrolls, and of a transfer that is refused."""
    with CaptureWriter(path, limit=None, meta={"scenario": scenario}) as writer:
        flow = writer.open(1, ("10.0.0.1", 5000), ("10.0.0.2", 9092), START, {})
        flow.arrived("request", enroll(1, "anna"), START + MS)
        flow.arrived("response", enrolled(1, 4), START + 2 * MS)
        flow.arrived("request", transfer(2, "savings", 70), START + 3 * MS)
        flow.arrived("response", transferred(2, 90, 12), START + 4 * MS)
        flow.close(START + 5 * MS)
    return path


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_capture(tmp_path_factory.mktemp("capture") / "f.pcapng", SCENARIO)


def test_spec_lists_and_shows_it() -> None:
    listed = run("spec", "list", "--dialects")
    assert "ledger: Accounts of a bank\n" in listed
    assert "   11  Enroll            consumer asks coordinator\n" in listed
    shown = run("spec", "show", "transfer", "--dialect", "ledger")
    assert shown.startswith("Transfer (key 3) of Accounts of a bank\n")
    assert "amount => INT64" in shown
    found = json.loads(run("spec", "show", "Transfer", "--dialect", "LEDGER", "--json"))
    assert (found["dialect"], found["key"], found["source"]) == ("ledger", 3, "page 1")
    assert dialect("LEDGER").api("transfer").key == 3


def test_decode_reads_a_frame() -> None:
    hex_ = transfer(7, "savings", 70).hex()
    found = json.loads(run("decode", "--request", hex_, "--dialect", "ledger", "--json"))
    assert found["api"] == "Transfer"
    assert found["header"] == {"kind": 3, "correlation_id": 7}
    assert found["body"] == {"account": "savings", "amount": 70}
    answer = transferred(7, 0, 5).hex()
    told = run("decode", "--response", answer, "--api", "Transfer", "--dialect", "ledger")
    assert "balance: 5" in told


@slicings
def test_the_proxy_applies_rules_to_it(chunks: Chunks) -> None:
    stage = Stage(SCENARIO)
    actor = stage.actor()
    actor.ask(enroll(1, "anna") + transfer(2, "savings", 70), chunks)
    actor.answer(enrolled(1, 4) + transferred(2, 90, 12), chunks)
    assert actor.frames("request") == [enroll(1, "anna"), transfer(2, "savings", 50)]
    assert actor.frames("response") == [enrolled(1, 4)]
    stage.wait(6)
    assert actor.frames("response") == [enrolled(1, 4), transferred(2, 90, 12)]
    assert [(one.api, one.error, one.rules) for one in actor.done] == [
        ("Enroll", "", ()),
        ("Transfer", "OVERDRAWN", ("less", "late")),
    ]
    assert not actor.said


def test_commands_read_a_capture_of_it(capture: Path) -> None:
    line = run("decode", capture).splitlines()[1]
    assert "Transfer" in line
    assert "OVERDRAWN" in line
    assert "70 to savings of 12" in line
    document = json.loads(run("summary", capture, "--json"))
    assert document["api"]["Transfer"]["errors"] == {"OVERDRAWN": 1}
    (row,) = document["group"]
    assert (row["group"], row["type"], row["generation"]) == ("north", "ledger", 4)
    found = json.loads(run("check", capture, "--only", "overdrafts", "--format", "json", code=1))
    assert [one["check"] for one in found["findings"]] == ["overdrafts"]
    assert "overdrafts: refused transfers\n    for the ledger\n" in run("check", "--list")
    rows = run("decode", capture, "--filter", "error == 'OVERDRAWN'", "--json").splitlines()
    assert len(rows) == 1
    assert "Transfer" in run("grep", "savings", capture)
    assert run("diff", capture, capture, "--json") == ""


@pytest.mark.parametrize(
    "command",
    [
        ("serve", "{}"),
        ("replay", "{}", "-b", "127.0.0.1:9"),
        ("convert", "{}", "{}.jsonl"),
        ("convert", "{}", "{}_test.py"),
    ],
)
def test_what_plays_kafkas_protocol_refuses_it(capture: Path, command: tuple[str, ...]) -> None:
    arguments = [word.format(capture) for word in command]
    with pytest.raises(Trouble, match="Kafka's protocol only: this capture is ledger"):
        CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_the_page_has_its_fields() -> None:
    assert body_fields()["request.amount"] == "Transfer (ledger)"
    actor = Stage(SCENARIO).actor()
    actor.ask(transfer(1, "savings", 70))
    actor.answer(transferred(1, 0, 12))
    (exchange,) = actor.done
    assert about(exchange.key, 0) == {
        "purpose": "the consumer asks the broker; Accounts of a bank",
        "versions": [0, 0],
        "brought": [],
    }
    fields = detail(0, exchange, Context())["request"]["fields"]
    assert {each["path"]: each["declared"] for each in fields} == {
        "account": "STRING",
        "amount": "INT64",
    }


def test_a_command_a_kind_and_an_experiment_are_added(tmp_path: Path) -> None:
    assert "audit " in run("peers", "--help")
    assert "completion" not in run("peers", "audit", "--help")
    assert run("peers", "audit", "savings", "--loud") == "audited SAVINGS\n"
    assert "bank       a bank\n" in run("peers", "list")
    assert run("peers", "start", "bank", "-n", "2", "-t", "t:1") == "2 ['t:1']\n"
    rows = map(json.loads, run("experiment", "list", "--json").splitlines())
    assert {row["name"]: row["question"] for row in rows}["profit"] == "Does it pay?"
    run("experiment", "run", "profit", "--short", "--out", tmp_path)
    assert "It does not" in (tmp_path / "profit.md").read_text("utf-8")
