"""Members of groups in Go, with a library of the tests' own that keeps its log in memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from barnabas.peers.clients import golang
from barnabas.peers.clients.errors import UnavailableClientError

COMMITTED = "offset_committed"

LIBRARY = """
package main

import (
	"errors"
	"strconv"
	"sync"
)

var sessions = map[string]session{}

var workloads = map[string]workload{
	"group": func(w *work) error { return w.readInGroup(w.join) },
	"read-process-write": func(w *work) error {
		return w.copyAll(func(r *reader, id string) (copier, error) {
			w.report("transactional", event{"id": id})
			return copying{consumerOf(w, r)}, nil
		})
	},
	"produce": func(w *work) error {
		o := w.outcomes(w.rounds[0])
		for _, records := range w.rounds[0] {
			for _, plan := range records {
				o.acknowledged(plan, -1, 0)
				o.failed(plan, errors.New("late"))
			}
		}
		return o.wait()
	},
}

var (
	mu        sync.Mutex
	committed = map[string]int64{} // by topic
	aborted   bool
)

type consumer struct {
	w        *work
	r        *reader
	position map[string]int64
}

func consumerOf(w *work, r *reader) *consumer {
	c := &consumer{w, r, map[string]int64{}}
	for _, topic := range w.topics {
		r.assigned(topic, 0)
	}
	c.seek()
	return c
}

func (w *work) join(m member, r *reader) (groupConsumer, error) {
	if m.Settings.Rack != "" {
		return nil, notOfferedError{}
	}
	return consumerOf(w, r), nil
}

func (c *consumer) seek() {
	mu.Lock()
	defer mu.Unlock()
	for _, topic := range c.w.topics {
		c.position[topic] = committed[topic]
	}
}

// Return the next two records of all topics. Every third one has no value.
func (c *consumer) poll() ([]record, error) {
	records := []record{}
	if c.r.name == "expelled" {
		problem := errors.New("expelled")
		c.w.pollError.Store(&problem)
		return records, nil
	}
	for number, id := range c.w.ids {
		topic, offset := c.w.topics[number%len(c.w.topics)], int64(number/len(c.w.topics))
		if offset < c.position[topic] || len(records) == 2 {
			continue
		}
		c.position[topic] = offset + 1
		key, value := []byte(id), []byte(id+"|xx")
		if number%3 == 0 {
			value = nil
		}
		records = append(records, record{topic: topic, offset: offset, id: recordID(key, value)})
	}
	return records, nil
}

func (c *consumer) commit(last []record) bool {
	mu.Lock()
	defer mu.Unlock()
	for _, l := range last {
		committed[l.topic] = l.offset + 1
	}
	return true
}

func (c *consumer) close() { c.w.report("closed", event{"name": c.r.name}) }

func (c *consumer) pause(partitions []topicPartition) {
	c.w.report("paused", event{"partitions": len(partitions)})
}

func (c *consumer) resume() { c.w.report("resumed", event{}) }

func (c *consumer) rewind([]topicPartition) { c.seek() }

type copying struct{ *consumer }

// Abort the second transaction.
func (c copying) copy(records []record, copies sends, transaction string) (bool, error) {
	for _, plan := range copies[0] {
		c.w.sent(plan, transaction)
	}
	if number := transaction[len(transaction)-1:]; number == strconv.Itoa(2) && !aborted {
		aborted = true
		c.seek()
		return false, nil
	}
	return c.commit(lastRecords(records)), nil
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the shared files with the library."""
    try:
        go = golang.go()
    except UnavailableClientError as problem:
        pytest.skip(str(problem))
    folder = tmp_path_factory.mktemp("members")
    for source in golang.SOURCES.glob("*.go"):
        shutil.copy(source, folder)
    (folder / "library.go").write_text(LIBRARY)
    (folder / "go.mod").write_text("module client\n\ngo 1.22\n")
    environment = {**os.environ, "GOWORK": "off"}
    subprocess.run([go, "build", "-o", "client", "."], cwd=folder, env=environment, check=True)
    return folder / "client"


def events(
    program: Path, *members: dict[str, Any], run: str = "group", **more: Any
) -> tuple[list[dict[str, Any]], Any]:
    """Return the events of members that read 16 records, and the exception."""
    plan = {"records": 16, "partitions": 1, "pause": 0, "settings": {}, "rounds": []}
    traffic = {"topics": ["a", "b"], "members": members, "ending": "await"}
    work = {**plan, "patience": 60, "stay": 0, **traffic, **more}
    task = {"number": 1, "run": run, "bootstrap": "b", "topic": "t", "work": work}
    ended = subprocess.run(
        [program], input=json.dumps(task), capture_output=True, text=True, check=True, timeout=60
    )
    _, *reported, result = map(json.loads, ended.stdout.splitlines())
    return reported, result["raised"]


def _offsets(reported: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(event["topic"], event["offset"]) for event in reported if event["event"] == COMMITTED]


def _ids(reported: list[dict[str, Any]], name: str) -> list[str]:
    return [event["id"] for event in reported if event["event"] == name]


def test_a_member_reports_each_record_by_value_or_key_and_commits_each_poll(program: Path) -> None:
    reported, raised = events(program, {"name": "reader"})
    assert raised is None
    assert [event["event"] for event in reported[:7]] == [
        *("consumer", "assigned", "assigned"),
        *("consumed", "consumed", COMMITTED, COMMITTED),
    ]
    assert _ids(reported, "consumed") == [f"t-{number}" for number in range(16)]
    assert reported[-1] == {"event": "closed", "name": "reader"}


def test_partial_commits_leave_the_other_partitions_to_the_end(program: Path) -> None:
    reported, _ = events(program, {"name": "reader", "partial": True})
    assert _offsets(reported) == [*(("a", end) for end in range(1, 9)), ("b", 8)]


def test_a_rewind_reads_the_third_poll_again_from_the_committed_offsets(program: Path) -> None:
    reported, _ = events(program, {"name": "reader", "rewinds": True})
    times = Counter(_ids(reported, "consumed"))
    assert [name for name, count in times.items() if count == 2] == ["t-4", "t-5"]
    assert [event["event"] for event in reported].count("assigned") == 4


def test_a_member_pauses_for_two_polls_after_each_third_one(program: Path) -> None:
    reported, _ = events(program, {"name": "reader", "pauses": True})
    names = [event["event"] for event in reported]
    first, last = names.index("paused"), names.index("resumed")
    assert reported[first]["partitions"] == 2
    assert names[:first].count("consumed") == 6
    assert names[first:last].count("consumed") == 4


def test_a_member_that_leaves_is_followed(program: Path) -> None:
    leaving = {"name": "old", "leaves": 6}
    reported, raised = events(program, leaving, {"name": "new", "follows": "old"})
    assert raised is None
    by_name = Counter(event["consumer"] for event in reported if event["event"] == "consumed")
    assert by_name == {"old": 6, "new": 10}


def test_a_later_member_waits_for_records(program: Path) -> None:
    reported, _ = events(program, {"name": "first"}, {"name": "never", "after": 17})
    assert {event["consumer"] for event in reported if "consumer" in event} == {"first"}


def test_records_that_are_pending_when_all_have_left_are_an_error(program: Path) -> None:
    _, raised = events(program, {"name": "reader", "leaves": 6})
    assert (raised["class"], raised["message"]) == ("GaveUpError", "10 records were not delivered")


def test_the_last_error_of_a_poll_counts_if_records_are_not_delivered(program: Path) -> None:
    _, raised = events(program, {"name": "expelled"}, patience=0.2)
    assert raised["message"] == "expelled"
    _, raised = events(program, {"name": "expelled"}, {"name": "reader"})
    assert raised is None


def test_the_error_of_a_member_ends_the_others(program: Path) -> None:
    failing = {"name": "failing", "settings": {"client.rack": "r"}}
    _, raised = events(program, {"name": "reader", "delay": 0.01}, failing)
    assert raised["class"] == "NotOfferedError"


def test_copies_of_an_aborted_transaction_are_repeated(program: Path) -> None:
    members = {"name": "first", "leaves": 6}, {"name": "next", "follows": "first"}
    reported, raised = events(program, *members, run="read-process-write")
    assert raised is None
    assert _ids(reported, "transactional") == ["t-group", "t-group-next"]
    outcomes = [
        (event["transaction"], event["outcome"])
        for event in reported
        if event["event"] == "transaction"
    ]
    assert outcomes[:3] == [
        ("first.1", "committed"),
        ("first.2", "aborted"),
        ("first.3", "committed"),
    ]
    times = Counter(_ids(reported, "sent"))
    assert [name for name, count in times.items() if count == 2] == ["t-2", "t-3"]
    assert {(event["topic"]) for event in reported if event["event"] == "sent"} == {"t-out"}


def test_a_second_outcome_of_a_record_is_reported_and_does_not_count(program: Path) -> None:
    round_ = [[{"id": "t-0", "key": "t-0"}], [{"id": "t-1", "key": "t-1"}]]
    reported, raised = events(program, run="produce", rounds=[round_])
    assert raised is None
    assert [(event["event"], event["id"]) for event in reported] == [
        *(("acknowledged", "t-0"), ("error", "t-0")),
        *(("acknowledged", "t-1"), ("error", "t-1")),
    ]
    assert reported[1] == {"event": "error", "id": "t-0", "topic": "t", "message": "late"}
