"""Members of groups in JavaScript, with a library of the tests' own that keeps its log in memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from barnabas.peers.clients.node import SOURCES

COMMITTED = "offset_committed"

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")

WORKLOADS = f"""
const {{ PendingRecords }} = require('{SOURCES}/members.cjs')
const {{ sleep }} = require('{SOURCES}/work.cjs')

const committed = {{ a: 0, b: 0 }}

async function group(work) {{
  const log = work.ids.map((id, number) => ({{
    topic: 'ab'[number % 2],
    partition: 0,
    offset: Math.floor(number / 2),
    key: id,
    value: number % 3 ? `${{id}}|xx` : null
  }}))
  await new PendingRecords(work).runMembers(async member => {{
    if (member.options.settings.fails) throw new Error('no such member')
    let position = {{ ...committed }}
    const pause = () => work.report('paused', {{}})
    const rewind = () => (position = {{ ...committed }})
    async function commit(records) {{
      for (const {{ topic, offset }} of records) {{
        committed[topic] = offset + 1
        work.committed(topic, 0, offset + 1)
      }}
      return records
    }}
    async function read() {{
      while (!member.leaving) {{
        const records = log.filter(({{ topic, offset }}) => offset >= position[topic]).slice(0, 2)
        for (const {{ topic, offset }} of records) position[topic] = offset + 1
        const handle = () => member.readAndCommit(records, {{ commit, pause, rewind }})
        if (records.length) await member.poll(records, handle)
        await sleep(0)
      }}
    }}
    member.assigned([{{ topic: 'a', partition: 0 }}, {{ topic: 'b', partition: 0 }}])
    read()
    await member.untilEnd(commit)
  }})
  return work.ids.length
}}

module.exports = {{ group }}
"""


def events(tmp_path: Path, *members: dict[str, Any]) -> tuple[list[dict[str, Any]], Any]:
    """Return the events of members that read 16 records, and the exception."""
    (tmp_path / "workloads.cjs").write_text(WORKLOADS)
    (tmp_path / "sessions.cjs").write_text("module.exports = { documented: [], sessions: {} }")
    plan = {"records": 16, "partitions": 1, "pause": 0, "settings": {}, "rounds": []}
    work = {**plan, "patience": 60, "stay": 0, "topics": ["a", "b"], "members": members}
    task = {"number": 1, "run": "group", "bootstrap": "b", "topic": "t", "work": work}
    program = [
        "node",
        str(SOURCES / "lines.cjs"),
        os.path.relpath(tmp_path.resolve(), SOURCES.resolve()),
    ]
    ended = subprocess.run(
        program, input=json.dumps(task), capture_output=True, text=True, check=True, timeout=60
    )
    _, *reported, result = map(json.loads, ended.stdout.splitlines())
    return reported, result["raised"]


def _offsets(reported: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(event["topic"], event["offset"]) for event in reported if event["event"] == COMMITTED]


def test_a_member_reports_each_record_by_value_or_key_and_commits_each_poll(tmp_path: Path) -> None:
    reported, raised = events(tmp_path, {"name": "reader"})
    assert raised is None
    assert [event["event"] for event in reported[:7]] == [
        *("consumer", "assigned", "assigned"),
        *("consumed", "consumed", COMMITTED, COMMITTED),
    ]
    consumed = [event["id"] for event in reported if event["event"] == "consumed"]
    assert consumed == [f"t-{number}" for number in range(16)]


def test_partial_commits_leave_the_other_partitions_to_the_end(tmp_path: Path) -> None:
    reported, raised = events(tmp_path, {"name": "reader", "partial": True})
    assert raised is None
    assert _offsets(reported) == [*(("a", offset) for offset in range(1, 9)), ("b", 8)]


def test_a_member_rewinds_and_pauses_at_each_third_poll(tmp_path: Path) -> None:
    reported, raised = events(tmp_path, {"name": "reader", "rewinds": True, "pauses": True})
    assert raised is None
    consumed = Counter(event["id"] for event in reported if event["event"] == "consumed")
    assert [name for name, count in consumed.items() if count == 2] == ["t-4", "t-5"]
    assert sum(event["event"] == "paused" for event in reported) == 2


def test_a_member_joins_when_the_one_that_it_follows_has_committed_and_left(tmp_path: Path) -> None:
    first = {"name": "first", "leaves": 4, "partial": True}
    reported, raised = events(tmp_path, first, {"name": "second", "follows": "first"})
    assert raised is None
    joined = reported.index(next(each for each in reported if each.get("consumer") == "second"))
    assert _offsets(reported[:joined]) == [("a", 1), ("a", 2), ("b", 2)]
    by_second = [each for each in reported[joined:] if each["event"] == "consumed"]
    assert [each["id"] for each in by_second] == [f"t-{number}" for number in range(4, 16)]


def test_an_error_of_a_member_ends_all_members(tmp_path: Path) -> None:
    failing = {"name": "failing", "after": 2, "settings": {"fails": True}}
    staying = {"name": "reader", "delay": 0.01}
    reported, raised = events(tmp_path, staying, failing)
    assert raised["message"] == "no such member"
    assert sum(event["event"] == "consumed" for event in reported) < 16
