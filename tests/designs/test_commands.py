"""Commands of the core on the dialects of the designs."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from barnabas.cli.app import app
from barnabas.specs.dialect_frames import DialectFrame, encode_frame
from barnabas.specs.dialects import dialect, dialects
from barnabas.trouble import Trouble


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, [*arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*arguments: str) -> str:
    found = CliRunner().invoke(app, [*arguments])
    assert isinstance(found.exception, Trouble)
    assert found.exception.code == 2
    return str(found.exception)


def test_dialects_are_listed_and_shown_with_their_reconstructions() -> None:
    for option in ("--dialects", "--drafts"):
        text = run("spec", "list", option)
        assert all(each.name in text for each in dialects())
    shown = run("spec", "show", "joingroup", "--draft", "rewrite-a")
    assert "Reconstructed: key, version, response.partitions_to_own." in shown
    assert "consumer_addr => STRING" in shown
    found = json.loads(run("spec", "show", "Ping", "--dialect", "central-coordination", "--json"))
    assert found["reconstructed"] == ["key", "request", "response"]
    assert found["asker"] == "coordinator"
    for each in dialects():
        assert run("spec", "show", each.apis[0].name, "--dialect", each.name)


def test_a_frame_is_decoded() -> None:
    ping = encode_frame(
        dialect("central-coordination"), DialectFrame("request", "Ping", {}, {})
    ).hex()
    for option in ("--dialect", "--draft"):
        shown = run("decode", "--request", ping, option, "central-coordination")
        assert shown.startswith("Ping v0 request\n")


def test_what_is_asked_for_wrongly_is_refused() -> None:
    decode = ("decode", "--request", "00", "--draft")
    assert "no dialect is called 'rewrite-x'" in refused(*decode, "rewrite-x")
    assert "give --api" in refused("decode", "--response", "00", "--draft", "rewrite-a")
    show = ("spec", "show", "Ping", "--source", "--draft")
    assert refused(*show, "rewrite-d") == (
        "no dialect is called 'rewrite-d'; did you mean 'rewrite-a'?; --source does not work with "
        "--dialect"
    )
    assert "does not work with --dialect" in refused(*show, "rewrite-a", "-v", "0")
