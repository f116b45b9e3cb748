"""`barnabas check` on a capture that the test writes: forms, options, exit codes."""

from __future__ import annotations

import json
import os
import urllib.parse
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.dialect_checks import dialect_checks
from barnabas.captures.checks.finding import LISTED
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.cli.app import app
from barnabas.specs.dialects import dialects
from barnabas.trouble import COULD_NOT_RUN, Trouble
from tests.captures.kafka.pairing.test_conversation import request, response
from tests.captures.split import split
from tests.places import SAMPLES
from tests.proxy.playbook import MS, START


def write(path: Path, pairs: int, *, note: bool = False, rules: Sequence[str] = ()) -> Path:
    """So many times two requests of one correlation id; or a commit that comes too late. rules: of the
    proxy, that fired on the first request."""
    with CaptureWriter(path, limit=None, meta={}) as capture:
        flow = capture.open(1, ("10.0.0.1", 5000), ("10.0.0.2", 9092), START, {})
        now = START
        for number in range(pairs):
            for direction, data in (
                ("request", request(number, topics=[])),
                ("request", request(number, topics=[])),
                ("response", response(number)),
                ("response", response(number)),
            ):
                now += MS
                comment = {"frame": 0, "rules": list(rules)}
                cuts = [(len(data), comment)] if rules and now == START + MS else []
                flow.arrived(direction, data, now, cuts)  # type: ignore[arg-type]
        if note:
            member = {"group_id": "g\x1b", "generation_id_or_member_epoch": 1, "member_id": "m"}
            place = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
            partition = {"partition_index": 0, "error_code": 27}
            asked = {**member, "topics": [{"name": "t", "partitions": [place]}]}
            came = [{"name": "t", "partitions": [partition]}]
            flow.arrived("request", request(0, 8, 5, **asked), now + MS)
            flow.arrived("response", response(0, 8, 5, topics=came), now + 2 * MS)
        flow.close(now + 3 * MS)
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    return write(tmp_path / "wrong.pcapng", 1, note=True)


@pytest.fixture
def right(tmp_path: Path) -> Path:
    return write(tmp_path / "right.pcapng", 0, note=True)


def check(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["check", *map(str, arguments)])
    if isinstance(result.exception, Trouble):
        return result.exception.code, result.stdout, str(result.exception)
    return result.exit_code, result.stdout, result.stderr


WHAT = "correlation id 0 was reused while Metadata was in flight with it"


def test_text(wrong: Path) -> None:
    code, out, err = check(wrong)
    assert code == 1
    lines = out.splitlines()
    assert lines[0].endswith(f"error   correlation_ids: {WHAT}")
    assert "frames 5, 6, 7, 8: Metadata v1 #0 of me, connection 1;" in lines[1]
    assert lines[2].strip().startswith("Increment the correlation id")
    assert "note    commits: group g�: a commit of generation 1 was rejected" in lines[3]
    assert err == "3 exchanges: 1 error, 1 note\n"


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (("late",), "a rule of the proxy took part: late"),
        (("late\x1b", "x" * 300), f"rules of the proxy took part: late�, {'x' * 254}…"),
        ([*"abcdefghijklm"], "rules of the proxy took part: a, b, c, d, e, f, g, h, i, j"),
    ],
)
def test_a_rule_of_the_proxy_that_took_part_is_named(
    tmp_path: Path, rules: Sequence[str], said: str
) -> None:
    path = write(tmp_path / "ruled.pcapng", 1, rules=rules)
    where = f"Metadata v1 #0 of me, connection 1 ({said}); Metadata v1 #0 of me, connection 1"
    assert check(path)[1].splitlines()[1].endswith(f": {where}")
    assert said in check(path, "--format", "junit")[1]
    (finding,) = json.loads(check(path, "--format", "json")[1])["findings"]
    assert [len(one["rules"]) for one in finding["evidence"]] == [min(len(rules), 10), 0]
    assert "took part" not in check(write(tmp_path / "without.pcapng", 1))[1]


def test_notes_alone_are_fine(right: Path) -> None:
    code, out, _ = check(right)
    assert code == 0
    assert "note    commits" in out


def test_json(wrong: Path) -> None:
    code, out, _ = check(wrong, "--format", "json")
    assert code == 1
    found = json.loads(out)
    assert (found["exchanges"], found["left_out"]) == (3, {})
    assert found["checks"] == [one.name for one in CHECKS]
    first = found["findings"][0]
    assert {name: first[name] for name in ("check", "severity", "what", "frames")} == {
        "check": "correlation_ids",
        "severity": "error",
        "what": WHAT,
        "frames": [5, 6, 7, 8],
    }
    assert [one["packets"] for one in first["evidence"]] == [[5, 7], [6, 8]]


def test_what_can_not_be_decoded_is_counted(tmp_path: Path) -> None:
    path, whole = tmp_path / "cut.pcapng", response(0)
    with CaptureWriter(path, limit=None, meta={}) as capture:
        flow = capture.open(1, ("10.0.0.1", 5000), ("10.0.0.2", 9092), START, {})
        flow.arrived("request", request(0, topics=[]), START + MS)
        flow.arrived("response", (len(whole) - 5).to_bytes(4) + whole[4:-1], START + 2 * MS)
        flow.close(START + 3 * MS)
    code, _, said = check(path)
    lost = "1 frame undecodable or without a request, of which nothing is known"
    assert (code, said) == (0, f"1 exchange: no findings\n{lost}\n")
    assert json.loads(check(path, "--format", "json")[1])["undecoded"] == 1
    (run,) = json.loads(check(path, "--format", "sarif")[1])["runs"]
    assert run["properties"]["undecoded"] == 1


def test_several_files_are_one_capture(tmp_path: Path) -> None:
    files = split(SAMPLES / "wrong.pcap", tmp_path, 40)
    code, text, said = check(*files)
    whole = check(SAMPLES / "wrong.pcap")
    assert (code, text) == whole[:2]
    assert said.replace(f"{files[0]} and {len(files) - 1} more", "F") == whole[2].replace(
        str(SAMPLES / "wrong.pcap"), "F"
    )
    two = [SAMPLES / "wrong.pcap", SAMPLES / "midway.pcap"]
    assert json.loads(check(*two, "--format", "json")[1])["file"] == f"{two[0]} and {two[1]}"
    (run,) = json.loads(check(*two, "--format", "sarif")[1])["runs"]
    assert len(run["artifacts"]) == 2
    assert f"barnabas check {two[0]} and {two[1]}" in check(*two, "--format", "junit")[1]


STRING = {"type": "string"}
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {**STRING, "minLength": 1}}}
URI = {"type": "string", "pattern": r"^[A-Za-z0-9._~/%-]+$"}


def closed(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these properties and no others."""
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
    }


def several(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


LOCATION = closed(
    {
        "physicalLocation": closed({"artifactLocation": closed({"uri": URI})}),
        "logicalLocations": several(closed({"name": STRING, "kind": STRING}), minItems=1),
        "message": TEXT,
    }
)
RULE = closed({"id": STRING, "shortDescription": TEXT, "fullDescription": TEXT})
RESULT = closed(
    {
        "ruleId": STRING,
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": TEXT,
        "locations": several(LOCATION, minItems=1, maxItems=1),
        "relatedLocations": several(LOCATION, uniqueItems=True),
    }
)
DRIVER = closed(
    {"name": STRING, "version": STRING, "rules": several(RULE, minItems=1, uniqueItems=True)}
)
RUN = closed(
    {
        "tool": closed({"driver": DRIVER}),
        "artifacts": several(closed({"location": closed({"uri": URI})}), uniqueItems=True),
        "results": several(RESULT),
        "properties": {"type": "object"},
    }
)
SARIF = closed(
    {
        "$schema": STRING,
        "version": {"const": "2.1.0"},
        "runs": several(RUN, minItems=1),
    }
)
"""What SARIF 2.1.0 (3.13, 3.14, 3.18, 3.19, 3.24, 3.27, 3.28, 3.29, 3.33, 3.49) says of all that is written,
narrowed to it. The whole schema is 3,000 lines."""


@pytest.mark.parametrize("name", ["plain.pcapng", "a b#ü%41?.pcapng", "\udcff.pcapng"])
@pytest.mark.parametrize(("pairs", "note"), [(1, True), (0, True), (0, False), (LISTED + 5, False)])
def test_sarif_is_of_its_form(tmp_path: Path, name: str, pairs: int, note: bool) -> None:
    path = write(tmp_path / name, pairs, note=note)
    code, out, _ = check(path, "--format", "sarif")
    assert code == (1 if pairs else 0)
    log = json.loads(out)
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    assert len(run["results"]) == min(pairs, LISTED) + note
    assert run["properties"]["leftOut"] == ({"correlation_ids": 5} if pairs > LISTED else {})
    (artifact,) = run["artifacts"]
    assert urllib.parse.unquote_to_bytes(artifact["location"]["uri"]) == os.fsencode(path)


def test_sarif(wrong: Path) -> None:
    """What it relates."""
    code, out, _ = check(wrong, "--format", "sarif")
    assert code == 1
    (run,) = json.loads(out)["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "barnabas"
    assert len({rule["id"] for rule in rules}) == len(rules) == len(CHECKS)
    assert [result["level"] for result in run["results"]] == ["error", "note"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert uri == run["artifacts"][0]["location"]["uri"] == str(wrong)
    places = [one["logicalLocations"][0]["name"] for one in run["results"][0]["locations"]]
    assert places == ["frame 6, frame 8"]
    assert len(run["results"][0]["relatedLocations"]) == 1


def test_junit(wrong: Path, right: Path) -> None:
    code, out, _ = check(wrong, "--format", "junit")
    assert code == 1
    root = ET.fromstring(out)
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    counts = {name: suite.attrib[name] for name in ("tests", "failures", "errors")}
    assert counts == {"tests": str(len(CHECKS)), "failures": "1", "errors": "0"}
    assert suite.attrib["name"] == f"barnabas check {wrong}"
    cases = [(case.tag, case.attrib["classname"], case.attrib["name"]) for case in suite]
    assert cases == [("testcase", "barnabas.cli.captures.check", one.name) for one in CHECKS]
    (failure,) = suite.iter("failure")
    assert failure.attrib == {"type": "error", "message": f"1 finding: {WHAT}"}
    (notes,) = suite.iter("system-out")
    assert "group g�: a commit" in str(notes.text)
    code, out, _ = check(right, "--format", "junit")
    assert code == 0
    assert list(ET.fromstring(out).iter("failure")) == []


def test_some_checks_only(wrong: Path) -> None:
    assert check(wrong, "--only", "order", "--only", "joins")[0] == 0
    assert check(wrong, "--only", "correlation_ids")[0] == 1
    assert check(wrong, "--skip", "correlation_ids")[0] == 0


def test_many_findings_are_listed_to_a_limit(tmp_path: Path) -> None:
    many = write(tmp_path / "many.pcapng", LISTED + 5)
    code, out, err = check(many, "--format", "json")
    assert code == 1
    found = json.loads(out)
    assert len(found["findings"]) == LISTED
    assert found["left_out"] == {"correlation_ids": 5}
    assert f"{LISTED + 5} errors, 5 findings of correlation_ids not listed" in err


def test_the_list_names_every_check_with_what_it_holds_for_and_its_settings() -> None:
    code, out, _ = check("--list")
    assert code == 0
    assert all(f"{one.name}: {one.what}\n" in out for one in (*CHECKS, *dialect_checks(dialects())))
    assert all(one.holds in out for one in (*CHECKS, *dialect_checks(dialects())))
    assert "--set: longest_ms 5000" in out


def test_the_list_reads_no_capture(wrong: Path, tmp_path: Path) -> None:
    listed = check("--list")
    assert check(wrong, "--list") == listed
    assert check(tmp_path / "none", "--list") == listed


def test_misuse_is_one_line(wrong: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for arguments, words in (
        ((), "check takes a capture"),
        ((tmp_path / "none",), "can't read the capture"),
        ((tmp_path / "empty",), "there is no capture in this folder"),
        ((wrong, "--only", "jons"), "there is no check 'jons'; did you mean 'joins'?"),
        ((wrong, "--skip", "jons"), "there is no check 'jons'"),
        ((wrong, "--only", "joins", "--skip", "joins"), "--skip leaves no check to run"),
        ((wrong, "--set", "joins"), "write CHECK.SETTING=VALUE"),
        ((wrong, "--set", "joins.longest=1"), "no setting 'longest'; did you mean 'longest_ms'?"),
        ((wrong, "--set", "order.x=1"), "it has none"),
        ((wrong, "--set", "joins.longest_ms=soon"), "'soon' is not a number"),
        ((wrong, "--set", "backoff.times=1.5"), "'1.5' is not a whole number"),
        ((wrong, "--checks", "mine"), "write module:TUPLE, e.g. mine:CHECKS"),
        ((wrong, "--checks", "nowhere:CHECKS"), "can't import nowhere"),
    ):
        code, out, said = check(*arguments)
        assert (code, out) == (2, "")
        assert words in said
        assert "\n" not in said


OWN = """
from dataclasses import dataclass
from barnabas.captures.checks.finding import Check, Finding, evidence

@dataclass(frozen=True)
class Sizes:
    largest: int = 10

def sizes(settings):
    def see(exchange, context):
        if exchange.request_size > settings.largest:
            yield Finding("warning", f"{exchange.request_size} bytes", "Less!", (evidence(exchange),))
    return see

CHECKS = (Check({name!r}, Sizes(), sizes, "large requests", "all"),)
NONE = ("sizes",)
TWICE = CHECKS * 2
"""


def test_checks_of_ones_own(right: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_sizes.py").write_text(OWN.replace("{name!r}", "'sizes'"))
    (tmp_path / "own_order.py").write_text(OWN.replace("{name!r}", "'order'"))
    monkeypatch.chdir(tmp_path)
    own = ("--checks", "own_sizes:CHECKS")
    code, out, _ = check(right, *own)
    assert code == 1
    assert "warning sizes: " in out
    assert check(right, *own, "--set", "sizes.largest=1000")[0] == 0
    assert check(right, *own, "--only", "order")[0] == 0
    assert "is the name of a check of ours" in check(right, "--checks", "own_order:CHECKS")[2]
    assert "is the name of a check before it" in check(right, "--checks", "own_sizes:TWICE")[2]
    assert "is no barnabas.captures.checks.Check" in check(right, "--checks", "own_sizes:NONE")[2]


RAISES = """
from barnabas.captures.checks.finding import Check, Finding, NoSettings

CHECKS = tuple(
    Check(name, NoSettings(), lambda settings, see=see: see, "nothing", "all APIs")
    for name, see in (
        ("attribute", lambda exchange, context: exchange.nonsense),
        ("nothing", lambda exchange, context: None),
        ("unproved", lambda exchange, context: [Finding("note", "what", "advice", ())]),
    )
) + (Check("begins", NoSettings(), lambda settings: settings.none, "nothing", "all APIs"),)
"""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("begins", "AttributeError: "),
        ("attribute", "AttributeError: "),
        ("nothing", "TypeError: 'NoneType' object is not iterable"),
        ("unproved", "a finding without evidence"),
    ],
)
def test_a_check_of_ones_own_that_raises_is_a_line(
    right: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, why: str
) -> None:
    (tmp_path / "own_raises.py").write_text(RAISES)
    monkeypatch.chdir(tmp_path)
    code, out, said = check(right, "--checks", "own_raises:CHECKS", "--only", name)
    assert (code, out) == (COULD_NOT_RUN, "")
    assert f"check {name} failed" in said
    assert (" at Metadata v" in said or " at OffsetCommit v" in said) == (name != "begins")
    assert why in said
    assert "\n" not in said


def test_a_capture_without_exchanges_has_nothing_to_check(tmp_path: Path) -> None:
    code, out, said = check(write(tmp_path / "none.pcapng", 0))
    assert (code, out) == (0, "")
    assert "0 exchanges: nothing to check" in said
