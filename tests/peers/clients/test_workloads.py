"""Workloads in Python, with a library of the tests' own that keeps its log in memory."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from barnabas.experiments.clients import workloads
from barnabas.experiments.clients.draws import Draw
from barnabas.experiments.clients.traffic import parameters
from barnabas.peers.clients import python
from tests.peers.clients.test_lines import Told, own_program

PROGRAMS = Path(python.__file__).parent / "programs"

OWN = """
import json
import library
from library import Record
from work import NotOfferedError

LOG = []

class Failed(Exception):
    pass

class Producer(library.Producer):
    failures = (Failed,)

    def __init__(self, work, settings):
        super().__init__(work)
        self.settings, self.open, self.tries = settings, [], 0

    def close(self): pass
    def begin(self): self.open = []
    def flush(self): self.settle()
    def close_with_records(self): self.settle()
    def report_outcomes(self): pass

    def send(self, record):
        self.open.append(record)

    def settle(self):
        if self.settings.get("transactional.id") and not self.open[0].id.endswith("-0"):
            self.tries += 1
            if self.tries == 1:
                raise Failed("once")
        for record in self.open:
            self.work.acknowledged(record.id, record.topic, 0, len(LOG))
            LOG.append(record)

    def send_offsets(self, ends, consumer): pass
    def commit(self): pass
    def abort(self): pass
    def abort_failed(self, problem): pass

class Consumer(library.Consumer):
    def __init__(self, work, reader, settings, pattern):
        if "group.protocol" in settings:
            raise NotOfferedError
        self.work, self.at, self.expelled = work, 0, settings.get("fetch.min.bytes") == 7
        reader.partition_assigned(work.topic, 0)

    def close(self): pass

    def poll(self):
        if self.expelled:
            self.work.poll_error = Failed("expelled")
            return []
        ids = self.work.ids[self.at : self.at + 2]
        self.at += len(ids)
        return [Record(self.work.topic, 0, self.at - len(ids) + n, id.encode()) for n, id in enumerate(ids)]

    def commit(self, ends): return ends
    def commit_some(self, ends): return ends
    def pause(self): print(json.dumps({"event": "pause"}), flush=True)
    def resume(self): print(json.dumps({"event": "resume"}), flush=True)

    def rewind(self):
        self.at = 0
        return [(self.work.topic, 0)]

LIBRARY = library.Library(Producer, Consumer, None)
"""


def events(
    tmp_path: Path, workload: str, records: int = 16, *, patience: float = 60, **features: Any
) -> tuple[list[dict[str, Any]], Any]:
    """What a workload tells, and what left it."""
    (tmp_path / "own_client.py").write_text(OWN)
    entry = next(
        (each for each in workloads.WORKLOADS if each.name == workload), workloads.find("produce")
    )
    drawn = Draw(sends=records, in_flight=5, partitions=1, members=entry.members, **features)
    work = {**parameters(drawn, entry, "t", 0), "patience": patience, "stay": 0}
    with own_program(tmp_path) as told:
        told.tell(
            number=1,
            run=workload if workload == "x" else entry.program,
            bootstrap="b",
            topic="t",
            work=work,
        )
        return _until_the_end(told)


def _until_the_end(told: Told) -> tuple[list[dict[str, Any]], Any]:
    found = []
    while "number" not in (said := told.said()):
        found.append(said)
    return found, said["raised"]


def test_the_last_error_of_a_poll_counts_if_records_are_not_delivered(tmp_path: Path) -> None:
    _, raised = events(tmp_path, "group", patience=0.2, fetch_min=7)
    assert raised["message"] == "expelled"


def test_each_third_transaction_is_aborted_and_one_that_fails_is_tried_again(
    tmp_path: Path,
) -> None:
    told, raised = events(tmp_path, "transact")
    assert raised is None
    ends = [(one["transaction"], one["outcome"]) for one in told if one["event"] == "transaction"]
    assert ends == [
        ("0.0", "committed"),
        ("1.0", "aborted"),
        ("1.1", "committed"),
        ("2.0", "aborted"),
        ("3.0", "committed"),
    ]
    sent = Counter(one["id"] for one in told if one["event"] == "sent")
    assert [sent[f"t-{number}"] for number in range(16)] == [*[1] * 5, *[2] * 5, *[1] * 6]


def test_what_a_group_is_given_is_told_and_committed(tmp_path: Path) -> None:
    told, raised = events(tmp_path, "group", 3)
    assert raised is None
    assert [one["event"] for one in told if one["event"] != "consumer"] == [
        *("assigned", "consumed", "consumed", "offset_committed"),
        *("consumed", "offset_committed"),
    ]
    assert [one["offset"] for one in told if one["event"] == "offset_committed"] == [2, 3]


def test_what_is_copied_in_a_transaction_that_fails_is_read_again(tmp_path: Path) -> None:
    told, raised = events(tmp_path, "read-process-write", 4)
    assert raised is None
    copied = [one["id"] for one in told if one["event"] == "acknowledged"]
    assert copied == ["t-0", "t-1", "t-0", "t-1", "t-2", "t-3"]
    assert {one["topic"] for one in told if one["event"] == "sent"} == {"t-out"}
    ends = [one["outcome"] for one in told if one["event"] == "transaction"]
    assert ends == ["committed", "aborted", "committed", "committed"]


@pytest.mark.parametrize("workload", ["consumer-protocol", "share-group", "stored-offsets", "x"])
def test_what_a_library_can_not_do_is_not_offered(tmp_path: Path, workload: str) -> None:
    _, raised = events(tmp_path, workload)
    assert (raised["class"], raised["message"]) == (
        "NotOfferedError",
        "this library does not offer it",
    )


def test_every_workload_is_of_all_libraries_or_of_one() -> None:
    tree = ast.parse((PROGRAMS / "workloads.py").read_text())
    (table,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "WORKLOADS"
    )
    assert isinstance(table, ast.Dict)
    found = {ast.literal_eval(key) for key in table.keys if key is not None}
    known = {one.name for one in workloads.WORKLOADS if not one.runs}
    assert found == known - {"stored-offsets"}
