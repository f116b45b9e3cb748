"""What a test in any language asks for, over HTTP, with real clients in front of an embedded cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from barnabas.captures.capture import open_capture
from tests.barnabas.testing.server.served import BUSY_TWICE, Server, producer, send, server
from tests.page.test_openapi import closed

PRODUCED = "api == 'Produce'"


@pytest.fixture(scope="module")
def it() -> Iterator[Server]:
    with server("-b", "librdkafka") as found:
        yield found


def test_a_test_from_its_beginning_to_its_end(it: Server, tmp_path: Path) -> None:
    test = it.begin(name="sends again", scenario=BUSY_TWICE)
    with producer(test) as maker:
        send(maker)
    assert it.ask("GET", f"/tests/{test['id']}").json["exchanges"] > 3
    assert test["id"] in [each["id"] for each in it.ask("GET", "/tests").json]
    found = it.of(test, "exchanges?filter=api%20==%20'Produce'", method="GET").json
    errors = [each["error"] for each in found]
    assert errors == ["NOT_LEADER_OR_FOLLOWER", "NOT_LEADER_OR_FOLLOWER", ""]
    waited = it.of(test, "wait_for", {"filter": PRODUCED, "count": 2, "timeout_ms": 0})
    assert waited.json == {"count": 2, "exchanges": found[:2]}
    said = it.of(test, "assert", {"retries": {"api": "Produce", "at_most": 2}})
    assert said.json == {"holds": True, "broken": [], "retries": 2}
    findings = it.of(test, "assert", {"findings": []}).json["findings"]
    assert "sequences" not in findings
    ended = it.ask("DELETE", f"/tests/{test['id']}").json["ended"]
    assert (ended["why"], ended["findings_left_out"]) == ("asked to", 0)
    assert "sequences" not in [each["check"] for each in ended["findings"]]
    assert [(rule["name"], rule["fired"]) for rule in ended["rules"]] == [
        ("the leader has moved", 2)
    ]
    assert ended["status"]["connections"]["open"] == 0
    assert it.ask("DELETE", f"/tests/{test['id']}").json["ended"] == ended
    capture = it.of(test, "capture", method="GET")
    file = tmp_path / "capture.pcapng"
    file.write_bytes(capture.body)
    assert capture.kind == "application/vnd.tcpdump.pcap"
    assert Path(test["capture"]).read_bytes() == capture.body
    produced = [each for each in open_capture(file).exchanges() if each.api == "Produce"]
    assert [each.error for each in produced] == errors


def test_rules_are_added_and_the_whole_control_api_is_there(it: Server) -> None:
    test = it.begin(capture=False)
    rule = {"name": "cut", "match": {"api": "Produce", "direction": "response"}, "do": "close"}
    added = it.of(test, "rules", {**rule, "when": {"times": 1, "scope": "rule"}})
    assert (added.status, [each["name"] for each in added.json["rules"]]) == (200, ["cut"])
    with producer(test) as maker:
        send(maker)
        (found,) = it.of(test, "scenario", method="GET").json["rules"]
        assert found["fired"] == 1
        assert {row["client_id"] for row in it.of(test, "connections", method="GET").json} == {
            "maker"
        }
    assert it.of(test, "rules", "{name: cut, do: close}").status == 422
    assert it.of(test, "scenario/rules/cut", method="DELETE").json["rules"] == []
    nothing = it.of(test, "capture", method="GET")
    assert (nothing.status, nothing.error) == (
        404,
        f"test {test['id']} has no capture: it began without one",
    )


@pytest.mark.parametrize(
    ("scenario", "rules"),
    [
        (None, []),
        ("commit-after-join", None),
        ("version: 1\nrules: [{name: cut, do: close}]", ["cut"]),
        ({"version": 1, "rules": [{"name": "cut", "do": "close"}]}, ["cut"]),
    ],
    ids=["none", "name", "yaml", "json"],
)
def test_a_scenario_is_yaml_json_or_a_name(
    it: Server, scenario: Any, rules: list[str] | None
) -> None:
    test = it.begin(scenario=scenario, capture=False)
    names = [each["name"] for each in it.of(test, "scenario", method="GET").json["rules"]]
    assert names == rules if rules is not None else names


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"x" * (10 << 20), 413, "the body is longer than 1 MiB"),
        (b"{", 400, "Invalid JSON: EOF while parsing an object at line 1 column 1"),
        (b"\xff", 400, "the body is not UTF-8"),
        ("[]", 400, "Input should be an object"),
        ({"names": "x"}, 400, "names: Extra inputs are not permitted"),
        ({"capture": 1}, 400, "capture: Input should be a valid boolean"),
        ({"name": "x" * 201}, 400, "name: String should have at most 200 characters"),
        (
            {"scenario": "commit-after-joins"},
            422,
            "no ready scenario is called 'commit-after-joins'; did you mean 'commit-after-join'?",
        ),
        (
            {"scenario": "/etc/passwd"},
            422,
            "no ready scenario is called '/etc/passwd'; see `barnabas scenario list`",
        ),
        (
            {"scenario": {"version": 1, "rules": [{"name": "a", "do": "clos"}]}},
            422,
            "scenario:6: unknown fault 'clos' in do; did you mean 'close'?",
        ),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_test_is_refused_in_a_line(
    it: Server, body: Any, status: int, said: str
) -> None:
    before = it.ask("GET", "/tests").json
    answer = it.ask("POST", "/tests", body)
    assert (answer.status, answer.error) == (status, said)
    assert it.ask("GET", "/tests").json == before


@pytest.mark.parametrize(
    ("what", "body", "status", "said"),
    [
        ("wait_for", {"filter": "ap == 'Produce'"}, 400, "filter: exchanges have no column 'ap'"),
        ("wait_for", {"filter": "=="}, 400, "filter: "),
        ("wait_for", {"count": 0}, 400, "count: Input should be greater than or equal to 1"),
        ("wait_for", {"timeout_ms": 600_001}, 400, "timeout_ms: Input should be less than or"),
        ("assert", {}, 400, "nothing is asserted: give retries, duplicate_sequences or findings"),
        ("assert", {"retries": {"most": 1}}, 400, "retries: most: Extra inputs are not permitted"),
        ("assert", {"retries": 3}, 400, "retries: Input should be an object"),
        ("assert", {"retries": {"api": "Prodce"}}, 400, "retries: api: Value error, "),
        (
            "assert",
            {"findings": ["ordr"]},
            400,
            "findings: there is no check 'ordr'; did you mean 'order'?",
        ),
        ("nothing", {}, 404, "Not Found"),
    ],
)
def test_what_can_not_be_asked_about_a_test_is_said(
    it: Server, what: str, body: Any, status: int, said: str
) -> None:
    test = it.begin(capture=False)
    answer = it.of(test, what, body)
    assert answer.status == status
    assert answer.error.startswith(said)


def test_who_has_no_token_and_who_names_no_test(it: Server) -> None:
    assert Server(it.address, "guessed").ask("GET", "/tests").status == 401
    assert it.ask("GET", "/tests", Host="evil.example").status == 403
    assert it.ask("GET", "/tests", Origin="http://evil.example").status == 403
    for method, path in (("GET", "/tests/1"), ("DELETE", "/tests/1"), ("POST", "/tests/1/assert")):
        answer = it.ask(method, path)
        assert (answer.status, answer.error) == (
            404,
            "no test 1 is there (any longer): GET /v1/tests lists them",
        )


def test_a_wait_in_vain_says_what_passed(it: Server) -> None:
    test = it.begin(capture=False)
    with producer(test) as maker:
        send(maker)
    answer = it.of(test, "wait_for", {"filter": PRODUCED, "count": 2, "timeout_ms": 50})
    assert (answer.status, answer.json["count"]) == (408, 1)
    assert [each["api"] for each in answer.json["exchanges"]] == ["Produce"]
    first, second, *lines = answer.error.splitlines()
    assert first == f'1 of 2 with filter="{PRODUCED}" passed within 0.05 s'
    assert second.startswith("  all that passed is ")
    assert any("maker b" in line and "Produce" in line for line in lines)


def test_since_leaves_out_what_passed_before(it: Server, tmp_path: Path) -> None:
    test = it.begin(scenario=BUSY_TWICE)
    with producer(test) as maker:
        send(maker)  # two retries
        mark = it.ask("GET", f"/tests/{test['id']}").json["exchanges"]
        wait = {"filter": PRODUCED, "since": mark, "timeout_ms": 50}
        in_vain = it.of(test, "wait_for", wait).error
        assert in_vain.startswith("0 of 1")
        assert "Produce v" not in in_vain
        send(maker)
        (waited,) = it.of(test, "wait_for", wait).json["exchanges"]
    filtered = f"exchanges?filter=api%20==%20'Produce'&since={mark}"
    assert it.of(test, filtered, method="GET").json == [waited]
    for since, held in ((0, False), (mark, True)):
        none = {"retries": {"api": "Produce", "at_most": 0}, "since": since}
        assert it.of(test, "assert", none).json["holds"] == held
    assert it.of(test, "assert", {"since": 1}).status == 400
    beyond = it.of(test, "assert", {"since": 1_000, "duplicate_sequences": 0})
    assert beyond.error.startswith("since: 1000, but the test has ")
    wrong = it.of(test, "report?since=x", method="GET")
    assert (wrong.status, wrong.error) == (400, "since is a number of exchanges, not 'x'")
    whole = it.of(test, "report", method="GET").body.decode()
    assert "Produce v10 NOT_LEADER_OR_FOLLOWER" in whole
    assert "rule the leader has moved: 4 matched, 2 fired, respond" in whole
    assert "proxy: listening on " in whole
    later = it.of(test, f"report?since={mark}", method="GET").body.decode()
    assert later.startswith("all that passed is ")
    assert "NOT_LEADER_OR_FOLLOWER" not in later
    assert re.search(r" maker b\d Produce v\d+ [\d.]+ ms orders\[\d] 1 record", later)
    capture = tmp_path / "capture.pcapng"  # of a test that runs
    capture.write_bytes(it.of(test, "capture", method="GET").body)
    assert "Produce" in [each.api for each in open_capture(capture).exchanges()]


def test_real_answers_are_what_the_document_says(it: Server) -> None:
    said = it.ask("GET", "/openapi.json").json
    assert (said["info"]["version"], said["servers"]) == ("1", [{"url": "/v1"}])
    test = it.begin(scenario=BUSY_TWICE)
    with producer(test) as maker:
        send(maker)
    bodies = {
        "/tests": {"name": "x", "capture": False},
        "/tests/{test}/rules": {"name": "cut", "do": "close", "match": {"api": "Vote"}},
        "/tests/{test}/wait_for": {"filter": PRODUCED},
        "/tests/{test}/assert": {"retries": {}, "duplicate_sequences": 0, "findings": []},
    }
    asked = [("POST", path) for path in bodies]
    asked += [
        ("GET", "/tests"),
        ("GET", "/tests/{test}/exchanges"),
        ("GET", "/tests/{test}/report"),
        ("DELETE", "/tests/{test}"),
        ("GET", "/tests/{test}"),
        ("GET", "/tests/{test}/capture"),
    ]
    for method, path in asked:
        body = bodies.get(path) if method == "POST" else None
        operation = said["paths"][path][method.lower()]
        if body is not None and path != "/tests/{test}/rules":
            (content,) = operation["requestBody"]["content"].values()
            wanted = {**content["schema"], "components": said["components"]}
            assert list(Draft202012Validator(closed(wanted)).iter_errors(body)) == []
        answer = it.ask(method, path.replace("{test}", test["id"]), body)
        declared = operation["responses"]["2XX"]["content"]
        assert list(declared) == [answer.kind], path
        if answer.kind == "application/json":
            schema = {**declared[answer.kind]["schema"], "components": said["components"]}
            faults = list(Draft202012Validator(closed(schema)).iter_errors(answer.json))
            assert faults == [], path
