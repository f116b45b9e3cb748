"""`barnabas spec`: what it prints, for people and for programs, and what it says to wrong input."""

from __future__ import annotations

import ast
import json
from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text
from typer.testing import CliRunner

from barnabas import specs
from barnabas.cli.app import app
from barnabas.cli.specs import show
from barnabas.cli.specs.listing import fit
from barnabas.specs import REGISTRY, api
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.wireshark import script
from barnabas.trouble import Trouble


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["spec", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*arguments: str) -> str:
    found = CliRunner().invoke(app, ["spec", *arguments])
    assert isinstance(found.exception, Trouble)
    assert found.exception.code == 2
    return str(found.exception)


def test_the_list_has_every_api_on_a_line() -> None:
    head, *lines = run("list").splitlines()
    assert head.split()[:2] == ["key", "API"]
    assert [line.split()[:2] for line in lines] == [
        [str(key), name] for key, name, _ in specs.REGISTRY
    ]
    assert "  1  Fetch" in run("list", "FETCH")
    assert len(run("list", "fetch").splitlines()) == 1 + 4


def test_the_list_for_programs() -> None:
    found = json.loads(run("list", "--json"))
    assert len(found) == len(specs.REGISTRY)
    assert found[1]["name"] == "Fetch"
    assert found[1]["versions"] == list(specs.api("Fetch").versions)
    assert found[1]["flexible_since"] == 12
    assert found[17]["flexible_since"] is None


@pytest.mark.parametrize("name", ["Fetch", "fetch", "1"])
def test_the_history_of_all_versions(name: str) -> None:
    text = run("show", name)
    assert text.startswith("Fetch (key 1): a client or a follower reads record batches")
    assert "    replica_directory_id  UUID      17+" in text
    assert "  v15  - request.replica_id, + request.replica_state" in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_an_api_with_one_version() -> None:
    text = run("show", "OffsetDelete")
    assert "\nversion 0, flexible none; declared in specs/apis/offset_delete.py\n" in text
    assert "what each version brought" not in text


def test_one_version_and_one_direction() -> None:
    text = run("show", "Heartbeat", "--version", "4", "--response")
    assert text.splitlines()[3:] == [
        "",
        "response header v1, then",
        "Heartbeat Response (Version: 4) => throttle_time_ms error_code _tagged_fields",
        "  throttle_time_ms => INT32",
        "  error_code => INT16",
        "",
        "field             versions",
        "throttle_time_ms  1+",
        "error_code        0+",
    ]


def test_a_version_for_programs() -> None:
    found: dict[str, Any] = json.loads(run("show", "Metadata", "-v", "9", "--json"))
    assert found["request"]["header"] == 2
    topics = found["request"]["fields"][0]
    assert (topics["name"], topics["array"], topics["nullable"]) == ("topics", True, True)
    assert topics["fields"][0]["type"] == "COMPACT_STRING"
    assert [row["path"] for row in found["request"]["history"]] == [
        "topics",
        "topics.name",
        "allow_auto_topic_creation",
        "include_cluster_authorized_operations",
        "include_topic_authorized_operations",
    ]


def test_a_field_that_came_twice_has_the_history_of_its_version() -> None:
    newest = specs.api("ConsumerGroupHeartbeat").versions[1]
    for version, arguments in ((0, ["--release", "3.6"]), (1, [])):
        show = ("show", "ConsumerGroupHeartbeat", "-v", str(version), *arguments, "--json")
        rows = json.loads(run(*show))["request"]["history"]
        found = [row["versions"] for row in rows if row["path"] == "subscribed_topic_regex"]
        assert found == [[version, newest if version else 0]]


def test_all_versions_for_programs() -> None:
    newest = specs.api("Metadata").versions[1]
    found: dict[str, Any] = json.loads(run("show", "Metadata", "--json"))
    assert found["module"] == "barnabas.specs.apis.metadata"
    assert found["headers"] == {
        "request": {"1": [0, 8], "2": [9, newest]},
        "response": {"0": [0, 8], "1": [9, newest]},
    }
    assert found["changes"]["13"] == ["+ response.error_code"]
    assert found["request"][3] == {
        "path": "allow_auto_topic_creation",
        "type": "BOOLEAN",
        "versions": [4, newest],
        "nullable": None,
        "tag": None,
        "releases": None,
        "default": True,
    }
    assert "default" not in found["request"][0]


def test_one_direction_of_the_history_says_nothing_of_the_other() -> None:
    text = run("show", "Fetch", "--response")
    assert "response header v0 (0-11), v1 (12+), then" in text
    assert "request" not in text.split("\n", 2)[2]
    assert "  v12  compact and tagged encoding (KIP-482), + response.responses" in text
    assert "request" not in json.loads(run("show", "Fetch", "--response", "--json"))["headers"]


def test_a_change_is_not_folded_behind_its_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    for width in range(40, 90):
        out = Console(force_terminal=True, width=width, no_color=True, file=StringIO())
        monkeypatch.setattr(show, "Terminal", lambda out=out: out)
        show.show("Fetch", None, None, None, False)
        assert isinstance(out.file, StringIO)
        lines = out.file.getvalue().splitlines()
        assert not [line for line in lines if line.endswith((" +", " -"))]


def test_lines_are_folded_for_a_terminal_and_whole_for_a_program() -> None:
    out = Console(force_terminal=True, width=40)
    folded = fit("  v8   " + ", ".join(["+ request.name"] * 9), 7, out).split("\n")
    assert len(folded) > 3
    assert all(len(line) <= 40 for line in folded)
    assert {line[:7] for line in folded[1:]} == {" " * 7}
    assert fit("word " * 99, 7, Console(force_terminal=False)) == "word " * 99


@pytest.mark.parametrize("release", ["0.8.2-beta", "0.9", "0.9.0.1", "3.6", "3.6.2", "4.4.0"])
def test_patch_releases_are_of_their_release(release: str) -> None:
    assert run("show", "Produce", "-v", "0", "--release", release).startswith("Produce (key 0)")


def test_a_release_whose_bytes_differ() -> None:
    old = run("show", "EndQuorumEpoch", "-v", "0", "--release", "2.7")
    assert "replica_id => INT32" in old
    assert "replica_id" not in run("show", "EndQuorumEpoch", "-v", "0")


def test_the_source_of_a_version_is_python_with_the_names_of_fields() -> None:
    text = run("show", "Fetch", "-v", "12", "--source")
    ast.parse(text)
    assert text.startswith("# Fetch request, version 12\ndef decode(b, ")
    assert text.count("\n# Fetch response, version 12\ndef decode(b, ") == 1
    assert "\x1b" not in text
    one = run("show", "Fetch", "-v", "12", "--source", "--request")
    assert text.startswith(one)
    assert "\ndef encode(v, " in one
    old = run("show", "EndQuorumEpoch", "-v", "0", "--release", "2.7", "--source", "--request")
    assert "replica_id" in old
    assert "replica_id" not in run("show", "EndQuorumEpoch", "-v", "0", "--source", "--request")


def test_the_source_is_coloured_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Console(force_terminal=True, width=300, file=StringIO(), color_system="standard")
    monkeypatch.setattr(show, "Terminal", lambda: out)
    show.source("Heartbeat", 4, "request", None)
    assert isinstance(out.file, StringIO)
    coloured = out.file.getvalue()
    assert "\x1b[" in coloured
    assert "generation_id" in Text.from_ansi(coloured).plain


def test_error_codes() -> None:
    assert run("errors", "27").split() == ["27", "REBALANCE_IN_PROGRESS"]
    assert run("errors", "-1").split() == ["-1", "UNKNOWN_SERVER_ERROR"]
    assert len(run("errors").splitlines()) == len(ERROR_CODES)
    found = json.loads(run("errors", "coordinator_not", "--json"))
    assert found == [{"code": 15, "name": "COORDINATOR_NOT_AVAILABLE", "retriable": True}]


def test_what_no_release_has_made_final_is_called_unstable() -> None:
    every = [api(key) for key, _, _ in REGISTRY]
    unstable = [each for each in every if each.stable < each.versions[1]]
    assert unstable
    for each in unstable:
        first = each.stable + 1
        assert f" (unstable from {first} on), flexible" in run("show", each.name)
        assert f"(Version: {first}, unstable)" in run("show", each.name, "-v", str(first))
        assert "nstable" not in run("show", each.name, "-v", str(each.stable)).partition("then")[2]
    final = next(each for each in every if each.stable == each.versions[1])
    assert "unstable" not in run("show", final.name)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "Fetsh"), "no API is called 'Fetsh'; did you mean 'Fetch'?"),
        (("show", "1000"), "no API has key 1000; the keys are 0 to "),
        (("show", "StopReplica", "-v", "5"), "StopReplica has versions 0 to 4, not 5"),
        (("show", "StopReplica", "-v", "-1"), "StopReplica has versions 0 to 4, not -1"),
        (("show", "Fetch", "--release", "2.7"), "--release is for one version: give --version too"),
        (
            ("show", "Fetch", "-v", "1", "--release", "new"),
            "no release 'new' of Kafka is known; there are 0.8 to 4.4",
        ),
        (("show", "Fetch", "-v", "1", "--release", "3.99"), "; did you mean '3.9'?"),
        (("show", "Fetch", "-v", "1", "--release", "99.0"), "no release '99.0' of Kafka is known"),
        (("show", "JoinGroup", "--dialect", "nope"), "no dialect is called 'nope'"),
        (("show", "Fetch", "--source"), "--source is for one version: give --version too"),
        (("show", "Fetch", "-v", "1", "--source", "--json"), "--source goes without --json"),
        (("show", "StopReplica", "-v", "5", "--source"), "StopReplica has versions 0 to 4, not 5"),
        (
            ("show", "Fetsh", "--source"),
            "did you mean 'Fetch'?; --source is for one version: give --version too",
        ),
        (("show", "Fetch", "--source", "--dialect", "nope"), "; --source goes without --dialect"),
        (("list", "nothing"), "no API has 'nothing' in its name"),
        (("errors", "nothing"), "no error code is, or is called like, 'nothing'"),
    ],
)
def test_wrong_input_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    line = refused(*arguments)
    assert said in line
    assert "\n" not in line


def test_the_dissector_is_printed_as_it_is() -> None:
    assert run("wireshark") == script()
