"""What happened in a trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.experiments.clients import timeline as module
from barnabas.experiments.clients.timeline import Moment, fired, timeline

FOUND = [
    Moment(0, "ApiVersions", usual=True),
    Moment(0.1, "Metadata", usual=True),
    Moment(0.2, "Produce v9: KAFKA_STORAGE_ERROR", ("offline",)),
    Moment(0.4, "Produce v9: KAFKA_STORAGE_ERROR", ("offline",)),
    Moment(0.5, "Produce", usual=True),
    Moment(0.6, "Produce", usual=True),
    Moment(30.6, "Produce", usual=True),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a trial with these exchanges."""
    monkeypatch.setattr(module, "moments", lambda _: FOUND)
    sent = '{"event": "sent", "id": "a", "topic": "t"}\n'
    (tmp_path / "history.jsonl").write_text(2 * sent)
    return tmp_path


def test_usual_exchanges_are_one_line_and_rules_are_named(folder: Path) -> None:
    assert timeline(folder, 50) == [
        "0.00 s to 0.10 s: ApiVersions, Metadata",
        "0.20 s to 0.40 s: rule 'offline' on Produce v9: KAFKA_STORAGE_ERROR (2 times)",
        "0.50 s to 0.60 s: 2 Produce",
        "30.60 s: Produce",
        "in the end the history has 2 sent",
    ]


def test_it_has_no_more_lines_than_asked_for(folder: Path) -> None:
    assert timeline(folder, 3) == [
        "0.00 s to 0.10 s: ApiVersions, Metadata",
        "... 3 lines are left out ...",
        "in the end the history has 2 sent",
    ]


def test_a_rule_says_on_what_it_fired_and_when(folder: Path) -> None:
    assert fired(folder) == [
        "rule 'offline' at 0.20 s to 0.40 s, 2 times: Produce v9: KAFKA_STORAGE_ERROR"
    ]


def test_without_evidence_there_is_nothing(tmp_path: Path) -> None:
    assert timeline(tmp_path, 50) == []
    (tmp_path / "run.pcapng").write_bytes(b"no capture")
    assert timeline(tmp_path, 50) == []
