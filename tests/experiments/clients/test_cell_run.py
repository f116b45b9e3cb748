"""Runs of cells whose client fails with some traffic only."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest

from barnabas.broker_kinds import LIBRDKAFKA
from barnabas.experiments.clients.brokers import Brokers
from barnabas.experiments.clients.cell import Cell
from barnabas.experiments.clients.cell_run import SMALLEST
from barnabas.experiments.clients.draws import draw, features
from barnabas.experiments.clients.folder import Folder
from barnabas.experiments.clients.matrix import Matrix, TableRequest
from barnabas.experiments.clients.table import findings
from barnabas.experiments.clients.workloads import find
from barnabas.peers.clients.client import Program

FAILS_WITH = """
import json, sys
request = json.loads(sys.stdin.readline())
failing = False
for sends in request["work"]["rounds"]:
    for send in sends:
        for record in send:
            if record.get({feature!r}):
                failing = True
            at = {{"id": record["id"], "topic": record.get("topic", request["topic"])}}
            print(json.dumps({{"event": "sent", "transaction": "1", **at}}))
print(json.dumps({{"event": "transaction", "transaction": "1", "outcome": "aborted"}}))
raised = {{"class": "Failed", "message": "no"}} if failing else None
print(json.dumps({{"number": request["number"], "raised": raised}}), flush=True)
"""
PRODUCE = find("produce")
SEED = next(
    seed
    for seed in range(1, 50)
    if {"headers", "given timestamps"} <= set(features(draw(seed, PRODUCE), PRODUCE))
)


def control(tmp_path: Path, *, drawn: bool = True) -> Cell:
    code = FAILS_WITH.format(feature="headers")
    program = Program([sys.executable, "-c", code])
    asked = TableRequest([("picky@1", lambda: program)], [PRODUCE], [], SEED + 1, drawn=drawn)
    with closing(Folder(tmp_path)) as folder, Brokers(LIBRDKAFKA) as brokers:
        (cell,) = Matrix(asked, brokers, folder).run()
    return cell


@pytest.mark.slow("starts brokers")
@pytest.mark.timeout(120)
def test_a_client_that_fails_with_some_traffic_is_a_finding_with_what_it_needs(
    tmp_path: Path,
) -> None:
    cell = control(tmp_path)
    assert (cell.verdict.word, cell.verdict.promised) == ("fails", True)
    assert "without any fault: Failed: no" in cell.verdict.why
    assert findings([cell]) == [cell]
    assert "headers" in cell.needs
    assert "given timestamps" not in cell.needs
    assert (tmp_path / "cells" / cell.name / SMALLEST / "history.jsonl").exists()


@pytest.mark.slow("starts brokers")
@pytest.mark.timeout(120)
def test_plain_traffic_has_no_features(tmp_path: Path) -> None:
    cell = control(tmp_path, drawn=False)
    assert cell.verdict.word == "fine"
    assert {trial.drawn for trial in cell.trials} == {cell.trials[0].drawn}
