"""Packages that bring what can't be used: a line says so, and commands that do not need it go on."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from typer.testing import CliRunner

from barnabas.captures.capture import open_capture
from barnabas.cli.app import app
from barnabas.page.views import Views
from barnabas.proxy.control.history import History
from barnabas.specs.dialects import dialect
from barnabas.trouble import COULD_NOT_RUN, MISUSE, Trouble
from tests.places import SAMPLES
from tests.proxy.playbook import Stage
from tests.specs.dialects.installed import ENTRY_POINTS, LEDGER, installed
from tests.specs.dialects.test_ledger import run, transfer, transferred, written_capture

USE = ("spec", "show", "Transfer", "--dialect", "ledger")
SCENARIO = "version: 1\ndialect: ledger\nrules: []\n"


def trouble(*arguments: str | Path, code: int = MISUSE) -> str:
    """What a command ends with, in a line."""
    with pytest.raises(Trouble) as caught:
        CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    assert caught.value.code == code
    assert "\n" not in str(caught.value)
    return str(caught.value)


def changed(old: str, new: str) -> str:
    assert LEDGER.count(old) == 1
    return LEDGER.replace(old, new)


def registered(*lines: str) -> str:
    return "\n".join(["[barnabas.dialects]", *lines])


WELL = registered("ledger = ledger_protocol:LEDGER")
TRANSFER = '    3,\n    "Transfer",\n    versions=(0, 0)'
LANES = 'lane_colors={"Enroll"'

MODULES: dict[str, tuple[str, str]] = {
    "raises": (
        "raise RuntimeError('first\\nsecond')", "can't import ledger_protocol: RuntimeError: first second"),
    "exits": ("raise SystemExit(7)", "ledger_protocol: SystemExit: 7"),
    "no Python": ("def", "can't import ledger_protocol: SyntaxError"),
    "wrong type": ("LEDGER = 'ledger'", "ledger_protocol:LEDGER is not a barnabas.specs.dialects.Dialect"),
    **{
        case: (changed(old, new), line)
        for case, old, new, line in (
            ("wrong name", 'name="ledger"', 'name="other"',
             "dialect ledger: it is registered under this name, and called other"),
            *((f"number {one}", "number=4321", f"number={one}",
               f"ValueError: the number is {one}; use 1 to 32766") for one in ("0", "32767", "'7'", "1.5")),
            ("key", "    11,\n", "    70_000,\n", "an API has key 70000"),
            ("two keys", "    11,\n", "    3,\n", "two APIs have one key"),
            ("a phrase of no API", LANES, LANES[:-2] + '"', "no API is called Enrol"),
            ("several versions", TRANSFER, TRANSFER[:-2] + "1)", "Transfer has several versions"),
            ("addresses that are nowhere", 'source="page 1")', 'source="", addresses=("", "balance"))',
             "addresses of Transfer: its response has no host"),
            ("no correlation id", 'Message("correlation_id" / Int32)', 'Message("number" / Int32)',
             "LedgerResponse has no field correlation_id: name a pairing"),
            ("no key field", 'key_field="kind"', 'key_field="key"', "the request header has no field key"),
        )
    },
}  # fmt: skip
"""The module, and what is said of it."""

BROKEN: dict[str, tuple[str, Mapping[str, str], str]] = {
    "no module": (registered("ledger = nowhere_at_all:X"), {}, "can't import nowhere_at_all"),
    "no name": (registered("ledger = ledger_protocol:NOPE"), {"ledger_protocol": LEDGER},
                "dialect ledger: ledger_protocol has no NOPE"),
    "no colon": (registered("ledger = ledger_protocol"), {"ledger_protocol": LEDGER},
                 "dialect ledger: 'ledger_protocol' is not a reference: write module:NAME"),
    "number taken": (
        registered("ledger = ledger_protocol:LEDGER", "twin = twin_protocol:LEDGER"),
        {"ledger_protocol": LEDGER, "twin_protocol": changed('name="ledger"', 'name="twin"')},
        "dialects ledger and twin have the number 4321; uninstall all but one"),
    **{case: (WELL, {"ledger_protocol": text}, line) for case, (text, line) in MODULES.items()},
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_an_unusable_dialect_is_a_line_and_the_others_work(case: str, tmp_path: Path) -> None:
    entry_points, modules, line = BROKEN[case]
    others = run("spec", "list", "--dialects")
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(SCENARIO, "utf-8")
    with installed(tmp_path, entry_points, modules):
        listed = CliRunner().invoke(app, ["spec", "list", "--dialects"])
        assert listed.stdout == others
        assert line in str(listed.exception)
        for command in (USE, ("check", "--list"), ("scenario", "check", scenario)):
            assert line in trouble(*command)


def test_packages_that_register_one_name_are_named(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with (
        installed(first),
        installed(second, registered("ledger = rival:LEDGER"), {"rival": LEDGER}, name="rival"),
    ):
        assert trouble(*USE) == (
            "dialect ledger: packages register ledger_protocol:LEDGER and rival:LEDGER; "
            "uninstall all but one"
        )


def test_broken_entry_points_are_a_line(tmp_path: Path) -> None:
    with installed(tmp_path, registered("ledger ledger_protocol:LEDGER")):
        assert "an installed package has broken entry points: " in trouble(*USE)
        run("decode", SAMPLES / "rebalance.pcap.gz")
        run("spec", "list")
        run("--help")


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return written_capture(tmp_path / "f.pcapng", SCENARIO)


NOWHERE = "dialect ledger: can't import nowhere_at_all"


def test_checks_that_do_not_load(capture: Path, tmp_path: Path) -> None:
    text = changed('"ledger_protocol:CHECKS"', '"nowhere_at_all:CHECKS"')
    with installed(tmp_path, WELL, {"ledger_protocol": text}):
        assert NOWHERE in trouble("check", capture)
        assert NOWHERE in trouble("check", "--list")
        assert "Transfer" in run("decode", capture)
        run("summary", capture)


def test_a_check_that_raises(capture: Path, tmp_path: Path) -> None:
    text = changed('exchange.error == "OVERDRAWN"', "exchange.nothing")
    with installed(tmp_path, WELL, {"ledger_protocol": text}):
        assert "overdrafts" in trouble("check", capture, code=COULD_NOT_RUN)


@pytest.mark.parametrize(
    ("old", "new", "line", "code"),
    [
        ('"ledger_protocol:Branches"', '"nowhere_at_all:B"', NOWHERE, MISUSE),
        ('asked["branch"], request', 'asked["shop"], request', "KeyError: 'shop'", COULD_NOT_RUN),
        ("self.bytes_ = bytes_", "raise OSError", "Branches failed: OSError:", COULD_NOT_RUN),
        (
            'request = member | {"session_timeout_ms": 10_000}',
            "request = member",
            "failed: ValueError: JoinGroup has no request.session_timeout_ms",
            COULD_NOT_RUN,
        ),
    ],
    ids=["absent", "raises", "is not made", "says too little"],
)
def test_a_group_reader_that_fails(
    old: str, new: str, line: str, code: int, capture: Path, tmp_path: Path
) -> None:
    with installed(tmp_path, WELL, {"ledger_protocol": changed(old, new)}):
        assert line in trouble("summary", capture, code=code)
        history = History()
        for exchange in open_capture(capture).exchanges(spoken=dialect("ledger")):
            history.add(exchange)
        request = Request({"type": "http", "query_string": b"", "headers": []})
        with pytest.raises(HTTPException, match="dialect ledger: "):
            asyncio.run(Views(history).groups(request))
        assert "Transfer" in run("decode", capture)


@pytest.mark.parametrize(
    "pairing", ["nowhere_at_all:P", "ledger_protocol:Branches.of", "ledger_protocol:nope"]
)
def test_a_pairing_that_fails(pairing: str, capture: Path, tmp_path: Path) -> None:
    text = changed("    lane_colors=", f'    pairing="{pairing}",\n    lane_colors=')
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(SCENARIO, "utf-8")
    with installed(tmp_path, WELL, {"ledger_protocol": text}):
        code = COULD_NOT_RUN if pairing.endswith("of") else MISUSE
        assert trouble("decode", capture, code=code).startswith("dialect ledger: ")
        assert "dialect ledger: " in trouble("scenario", "check", scenario)
        run("spec", "show", "Transfer", "--dialect", "ledger")


def test_a_phrase_that_raises_is_no_words(capture: Path, tmp_path: Path) -> None:
    with installed(tmp_path, WELL, {"ledger_protocol": changed("asked['account']", "asked['a']")}):
        actor = Stage(SCENARIO).actor()
        actor.ask(transfer(1, "savings", 70))
        actor.answer(transferred(1, 0, 12))
        assert len(actor.done) == 1
        assert "no words: KeyError('a')" in run("decode", capture)


def test_other_plug_ins_that_are_unusable(tmp_path: Path) -> None:
    entry_points = ENTRY_POINTS.replace("ledger_protocol:audit_app", "ledger_protocol:LEDGER")
    entry_points = entry_points.replace("ledger_protocol:BANK", "nowhere_at_all:BANK")
    entry_points = entry_points.replace("ledger_protocol:PROFIT", "ledger_protocol:BANK")
    others = run("peers", "list")
    with installed(tmp_path, entry_points):
        assert "audit" in run("peers", "--help")
        assert trouble("peers", "audit", "savings", "--loud") == (
            "command peers audit: ledger_protocol:LEDGER is not a typer application with one command"
        )
        listed = CliRunner().invoke(app, ["peers", "list"])
        assert listed.stdout == others
        assert "kind of brokers bank: can't import nowhere_at_all" in str(listed.exception)
        assert "can't import nowhere_at_all" in trouble("peers", "start", "bank")
        line = "experiment profit: ledger_protocol:BANK is not a barnabas.experiments Experiment"
        assert trouble("experiment", "run", "profit") == line


def test_a_pairing_that_raises(capture: Path, tmp_path: Path) -> None:
    text = f"""{LEDGER}

class Raising:
    client, waiting = None, {{}}

    def __init__(self, _): ...

    def frame(self, direction, data):
        raise TypeError(direction)
"""
    text = text.replace(
        "    lane_colors=", '    pairing="ledger_protocol:Raising",\n    lane_colors='
    )
    with installed(tmp_path, WELL, {"ledger_protocol": text}):
        assert trouble("decode", capture, code=COULD_NOT_RUN) == (
            "dialect ledger: ledger_protocol:Raising failed: TypeError: request"
        )
