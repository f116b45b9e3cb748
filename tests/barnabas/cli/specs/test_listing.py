"""`barnabas spec`: what it prints, for people and for programs, and what it says to wrong input."""

from __future__ import annotations

import ast
from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from barnabas import specs
from barnabas.cli.specs import show
from barnabas.cli.specs.listing import fit
from barnabas.specs import REGISTRY, api
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.wireshark import script
from tests.barnabas.cli.command import Ran, run


def spec(*arguments: str) -> Ran:
    done = run("spec", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done


def test_the_list_has_every_api_on_a_line() -> None:
    head, *lines = spec("list").stdout.splitlines()
    assert head.split()[:2] == ["key", "API"]
    assert [line.split()[:2] for line in lines] == [
        [str(key), name] for key, name, _ in specs.REGISTRY
    ]
    assert "  1  Fetch" in spec("list", "FETCH").stdout
    assert len(spec("list", "fetch").stdout.splitlines()) == 1 + 4


def test_the_list_for_programs() -> None:
    found = spec("list", "--json").document
    assert len(found) == len(specs.REGISTRY)
    assert found[1]["name"] == "Fetch"
    assert found[1]["versions"] == list(specs.api("Fetch").versions)
    assert found[1]["flexible_since"] == 12
    assert found[17]["flexible_since"] is None


@pytest.mark.parametrize("name", ["Fetch", "fetch", "1"])
def test_the_history_of_all_versions(name: str) -> None:
    text = spec("show", name).stdout
    assert text.startswith("Fetch (key 1): a client or a follower reads record batches")
    assert "    replica_directory_id  UUID      17+" in text
    assert "  v15  - request.replica_id, + request.replica_state" in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_one_version_and_one_direction() -> None:
    text = spec("show", "Heartbeat", "--version", "4", "--response").stdout
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


def test_a_field_that_came_twice_has_the_history_of_its_version() -> None:
    newest = specs.api("ConsumerGroupHeartbeat").versions[1]
    for version, arguments in ((0, ["--release", "3.6"]), (1, [])):
        show = ("show", "ConsumerGroupHeartbeat", "-v", str(version), *arguments, "--json")
        rows = spec(*show).document["request"]["history"]
        found = [row["versions"] for row in rows if row["path"] == "subscribed_topic_regex"]
        assert found == [[version, newest if version else 0]]


def test_all_versions_for_programs() -> None:
    newest = specs.api("Metadata").versions[1]
    found: dict[str, Any] = spec("show", "Metadata", "--json").document
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


def test_lines_are_folded_for_a_terminal_and_whole_for_a_program() -> None:
    out = Console(force_terminal=True, width=40)
    folded = fit("  v8   " + ", ".join(["+ request.name"] * 9), 7, out).split("\n")
    assert len(folded) > 3
    assert all(len(line) <= 40 for line in folded)
    assert {line[:7] for line in folded[1:]} == {" " * 7}
    assert fit("word " * 99, 7, Console(force_terminal=False)) == "word " * 99


@pytest.mark.parametrize("release", ["0.8.2-beta", "0.9", "0.9.0.1", "3.6", "3.6.2", "4.4.0"])
def test_patch_releases_are_of_their_release(release: str) -> None:
    assert spec("show", "Produce", "-v", "0", "--release", release).stdout.startswith(
        "Produce (key 0)"
    )


def test_the_source_of_a_version_is_python_with_the_names_of_fields() -> None:
    text = spec("show", "Fetch", "-v", "12", "--source").stdout
    ast.parse(text)
    assert text.startswith("# Fetch request, version 12\ndef decode(b, ")
    assert text.count("\n# Fetch response, version 12\ndef decode(b, ") == 1
    assert "\x1b" not in text
    one = spec("show", "Fetch", "-v", "12", "--source", "--request").stdout
    assert text.startswith(one)
    assert "\ndef encode(v, " in one
    old = spec(
        "show", "EndQuorumEpoch", "-v", "0", "--release", "2.7", "--source", "--request"
    ).stdout
    assert "replica_id" in old
    assert (
        "replica_id"
        not in spec("show", "EndQuorumEpoch", "-v", "0", "--source", "--request").stdout
    )


def test_the_source_is_coloured_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Console(force_terminal=True, width=300, file=StringIO(), color_system="standard")
    monkeypatch.setattr(show, "Terminal", lambda: out)
    show.source("Heartbeat", 4, "request", None)
    assert isinstance(out.file, StringIO)
    coloured = out.file.getvalue()
    assert "\x1b[" in coloured
    assert "generation_id" in Text.from_ansi(coloured).plain


def test_error_codes() -> None:
    assert spec("errors", "27").stdout.split() == ["27", "REBALANCE_IN_PROGRESS"]
    assert spec("errors", "-1").stdout.split() == ["-1", "UNKNOWN_SERVER_ERROR"]
    assert len(spec("errors").stdout.splitlines()) == len(ERROR_CODES)
    found = spec("errors", "coordinator_not", "--json").document
    assert found == [{"code": 15, "name": "COORDINATOR_NOT_AVAILABLE", "retriable": True}]


def test_what_no_release_has_made_final_is_called_unstable() -> None:
    every = [api(key) for key, _, _ in REGISTRY]
    unstable = [each for each in every if each.stable < each.versions[1]]
    assert unstable
    for each in unstable:
        first = each.stable + 1
        assert f" (unstable from {first} on), flexible" in spec("show", each.name).stdout
        assert f"(Version: {first}, unstable)" in spec("show", each.name, "-v", str(first)).stdout
        assert (
            "nstable"
            not in spec("show", each.name, "-v", str(each.stable)).stdout.partition("then")[2]
        )
    final = next(each for each in every if each.stable == each.versions[1])
    assert "unstable" not in spec("show", final.name).stdout


def test_the_dissector_is_printed_as_it_is() -> None:
    assert spec("wireshark").stdout == script()


def test_an_api_with_one_version() -> None:
    text = spec("show", "OffsetDelete").stdout
    assert "\nversion 0, flexible none; declared in specs/apis/offset_delete.py\n" in text
    assert "what each version changed" not in text


def test_one_direction_of_the_history_says_nothing_of_the_other() -> None:
    text = spec("show", "Fetch", "--response").stdout
    assert "response header v0 (0-11), v1 (12+), then" in text
    assert "request" not in text.split("\n", 2)[2]
    assert "  v12  compact and tagged encoding (KIP-482), + response.responses" in text
    assert "request" not in spec("show", "Fetch", "--response", "--json").document["headers"]
