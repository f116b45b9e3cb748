"""`barnabas check` on a capture that the test writes: forms, options, exit codes."""

from __future__ import annotations

import os
import re
import urllib.parse
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.dialect_checks import dialect_checks
from barnabas.captures.checks.finding import LISTED
from barnabas.captures.kafka.notes import ONE_DIRECTION
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.specs.dialects import dialects
from barnabas.specs.frames import Direction
from tests.barnabas.cli.captures.written import write
from tests.barnabas.cli.command import Ran, run
from tests.captures.kafka.pairing.test_conversation import request, response
from tests.captures.kafka.test_one_direction import of_sample, one_direction
from tests.captures.split import split
from tests.places import SAMPLES
from tests.proxy.playbook import MS, START


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    return write(tmp_path / "wrong.pcapng", 1, note=True)


@pytest.fixture
def right(tmp_path: Path) -> Path:
    return write(tmp_path / "right.pcapng", 0, note=True)


def check(*arguments: str | Path) -> Ran:
    return run("check", *arguments)


TWO = ("correlation_ids", "commits")
"""The checks that these tests look at, whichever others there are."""


def check_two(*arguments: str | Path) -> Ran:
    return check(*arguments, *(word for name in TWO for word in ("--only", name)))


WHAT = "correlation id 0 was reused while Metadata was in flight with it"


def test_text(wrong: Path, right: Path, tmp_path: Path) -> None:
    code, out, err = check_two(wrong)
    assert (code, err) == (1, "3 exchanges: 1 error, 1 note\n")
    lines = out.splitlines()
    assert lines[0].endswith(f"error   correlation_ids: {WHAT}")
    assert "frames 5, 6, 7, 8: Metadata v1 #0 of me, connection 1;" in lines[1]
    assert lines[2].strip().startswith("Increment the correlation id")
    assert "note    commits: group g�: a commit of generation 1 was rejected" in lines[3]
    code, out, _ = check_two(right)
    assert (code, "note    commits" in out) == (0, True), "notes alone are fine"
    nothing = check_two(write(tmp_path / "none.pcapng", 0))
    assert nothing == (0, "", "0 exchanges: nothing to check\n")


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        (("late",), "a rule of the proxy took part: late"),
        (("late\x1b", "x" * 300), f"rules of the proxy took part: late�, {'x' * 254}…"),
        ([*"abcdefghijklm"], "rules of the proxy took part: a, b, c, d, e, f, g, h, i, j"),
    ],
)
def test_a_rule_of_the_proxy_that_took_part_is_named(
    tmp_path: Path, rules: Sequence[str], named: str
) -> None:
    path = write(tmp_path / "ruled.pcapng", 1, rules=rules)
    where = f"Metadata v1 #0 of me, connection 1 ({named}); Metadata v1 #0 of me, connection 1"
    assert check_two(path).stdout.splitlines()[1].endswith(f": {where}")
    assert named in check_two(path, "--format", "junit").stdout
    (finding,) = check_two(path, "--format", "json").document["findings"]
    assert [len(one["rules"]) for one in finding["evidence"]] == [min(len(rules), 10), 0]
    assert "took part" not in check_two(write(tmp_path / "without.pcapng", 1)).stdout


def test_json(wrong: Path) -> None:
    found = check_two(wrong, "--format", "json")
    document = found.document
    assert (found.returncode, document["exchanges"], document["left_out"]) == (1, 3, {})
    assert document["checks"] == [*TWO]
    first = document["findings"][0]
    columns = ("check", "severity", "what", "frames")
    assert [first[name] for name in columns] == ["correlation_ids", "error", WHAT, [5, 6, 7, 8]]
    assert [one["packets"] for one in first["evidence"]] == [[5, 7], [6, 8]]


def test_what_can_not_be_decoded_is_counted(tmp_path: Path) -> None:
    path, whole = tmp_path / "cut.pcapng", response(0)
    with CaptureWriter(path, limit=None, meta={}) as capture:
        flow = capture.open(1, ("10.0.0.1", 5000), ("10.0.0.2", 9092), START, {})
        flow.arrived("request", request(0, topics=[]), START + MS)
        flow.arrived("response", (len(whole) - 5).to_bytes(4) + whole[4:-1], START + 2 * MS)
        flow.close(START + 3 * MS)
    code, _, said = check_two(path)
    lost = "1 frame undecodable or without a request, content unknown"
    assert (code, said) == (0, f"1 exchange: no findings\n{lost}\n")
    assert check_two(path, "--format", "json").document["undecoded"] == 1
    (found,) = check_two(path, "--format", "sarif").document["runs"]
    assert found["properties"]["undecoded"] == 1


def test_several_files_are_one_capture(tmp_path: Path) -> None:
    files, sample = split(SAMPLES / "wrong.pcap", tmp_path, 40), SAMPLES / "wrong.pcap"
    code, text, said = check(*files)
    whole = check(sample)
    assert (code, text) == whole[:2]
    named = f"{files[0]} and {len(files) - 1} more"
    assert said.replace(named, "F") == whole.stderr.replace(str(sample), "F")
    two = [sample, SAMPLES / "midway.pcap"]
    assert check(*two, "--format", "json").document["file"] == f"{two[0]} and {two[1]}"
    (found,) = check(*two, "--format", "sarif").document["runs"]
    assert len(found["artifacts"]) == 2
    assert f"barnabas check {two[0]} and {two[1]}" in check(*two, "--format", "junit").stdout


@pytest.mark.parametrize("name", ["plain.pcapng", "a b#ü%41?.pcapng", "\udcff.pcapng"])
@pytest.mark.parametrize(("pairs", "note"), [(1, True), (0, True), (0, False), (LISTED + 5, False)])
def test_sarif_is_of_its_form(tmp_path: Path, name: str, pairs: int, note: bool) -> None:
    path = write(tmp_path / name, pairs, note=note)
    found = check_two(path, "--format", "sarif")
    assert found.returncode == (1 if pairs else 0)
    assert found.document["version"] == "2.1.0"
    (only,) = found.document["runs"]
    assert len(only["results"]) == min(pairs, LISTED) + note
    assert only["properties"]["leftOut"] == ({"correlation_ids": 5} if pairs > LISTED else {})
    (artifact,) = only["artifacts"]
    uri = artifact["location"]["uri"]
    assert re.fullmatch(r"[A-Za-z0-9._~/%-]+", uri)
    assert urllib.parse.unquote_to_bytes(uri) == os.fsencode(path)


def test_what_sarif_relates(wrong: Path) -> None:
    (found,) = check_two(wrong, "--format", "sarif").document["runs"]
    driver = found["tool"]["driver"]
    assert (driver["name"], [rule["id"] for rule in driver["rules"]]) == ("barnabas", [*TWO])
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"]

    def place(frames: str) -> dict[str, Any]:
        return {
            "physicalLocation": {"artifactLocation": {"uri": str(wrong)}},
            "logicalLocations": [{"name": frames, "kind": "frame"}],
            "message": {"text": "Metadata v1 #0 of me, connection 1"},
        }

    first, second = found["results"]
    assert first.pop("message")["text"].startswith(f"{WHAT}. Increment the correlation id")
    assert first == {
        "ruleId": "correlation_ids",
        "ruleIndex": 0,
        "level": "error",
        "locations": [place("frame 6, frame 8")],
        "relatedLocations": [place("frame 5, frame 7")],
    }
    assert (second["ruleId"], second["ruleIndex"], second["level"]) == ("commits", 1, "note")


def test_junit(wrong: Path, right: Path) -> None:
    code, out, _ = check_two(wrong, "--format", "junit")
    root = ET.fromstring(out)
    (suite,) = root
    assert (code, root.tag, suite.tag) == (1, "testsuites", "testsuite")
    counts = [suite.attrib[name] for name in ("tests", "failures", "errors", "name")]
    assert counts == [str(len(TWO)), "1", "0", f"barnabas check {wrong}"]
    cases = [(case.tag, case.attrib["classname"], case.attrib["name"]) for case in suite]
    assert cases == [("testcase", "barnabas.cli.captures.check", name) for name in TWO]
    (failure,) = suite.iter("failure")
    assert failure.attrib == {"type": "error", "message": f"1 finding: {WHAT}"}
    (notes,) = suite.iter("system-out")
    assert "group g�: a commit" in str(notes.text)
    code, out, _ = check_two(right, "--format", "junit")
    assert (code, list(ET.fromstring(out).iter("failure"))) == (0, [])


def test_many_findings_are_listed_to_a_limit(tmp_path: Path) -> None:
    many = write(tmp_path / "many.pcapng", LISTED + 5)
    found = check_two(many, "--format", "json")
    assert found.returncode == 1
    assert len(found.document["findings"]) == LISTED
    assert found.document["left_out"] == {"correlation_ids": 5}
    assert f"{LISTED + 5} errors, 5 findings of correlation_ids not listed" in found.stderr
    assert f'message="{LISTED + 5} findings: ' in check_two(many, "--format", "junit").stdout


def test_the_list_names_every_check_with_what_it_holds_for_and_its_settings(
    wrong: Path, tmp_path: Path
) -> None:
    listed = check("--list")
    assert listed.returncode == 0
    for one in (*CHECKS, *dialect_checks(dialects())):
        assert f"{one.name}: {one.what}\n" in listed.stdout
        assert one.holds in listed.stdout
    assert "--set: longest_ms 5000" in listed.stdout
    assert check(wrong, "--list") == listed, "it reads no capture"
    assert check(tmp_path / "none", "--list") == listed


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

CHECKS = (Check("sizes", Sizes(), sizes, "large requests", "all"),)
"""


def test_checks_of_ones_own(right: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_sizes.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    own = ("--checks", "own_sizes:CHECKS")
    only = ("--only", "sizes", "--only", "commits")
    code, out, _ = check(right, *own, *only)
    assert (code, "warning sizes: " in out) == (1, True)
    assert check(right, *own, *only, "--set", "sizes.largest=1000").returncode == 0
    assert check(right, *own, "--only", "order").returncode == 0


@pytest.mark.parametrize(
    ("kept", "result"), [("request", "no findings"), ("response", "nothing to check")]
)
def test_one_direction_is_named(tmp_path: Path, kept: Direction, result: str) -> None:
    path = one_direction(tmp_path / "f.pcap", of_sample("rebalance.pcap.gz"), kept)
    code, out, err = check(path)
    decoded = run("decode", path)
    exchanges = len(decoded.stdout.splitlines())
    first, *notes = err.splitlines()
    assert (code, out) == (0, "")
    assert first == f"{exchanges} exchanges: {result}; {ONE_DIRECTION[kept]}"
    assert check(path, "--format", "json").document["only"] == kept
    assert {note for note in decoded.stderr.splitlines() if "content unknown" in note} <= {*notes}
