"""Cells of a real client before librdkafka's mock."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest

from barnabas.broker_kinds import LIBRDKAFKA
from barnabas.experiments.clients.brokers import Brokers
from barnabas.experiments.clients.cell import Cell
from barnabas.experiments.clients.folder import Folder
from barnabas.experiments.clients.matrix import GONE, TROUBLE, Matrix, TableRequest
from barnabas.experiments.clients.table import findings
from barnabas.experiments.clients.workloads import find
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.python import program
from barnabas.proxy.scenario.file import loads

AGAIN = loads("""
version: 1
rules: [{name: not here, match: {api: Produce, direction: request}, when: {times: 1, scope: rule},
  do: {respond: {error: NOT_LEADER_OR_FOLLOWER}}}]
""")
TOO_LARGE = loads("""
version: 1
rules: [{name: refused, match: {api: Produce, direction: request}, do: {respond: {error: MESSAGE_TOO_LARGE}}}]
""")
ELSEWHERE = loads("version: 1\nrules: [{name: refused, match: {api: JoinGroup}, do: drop}]")


def absent() -> Program:
    raise UnavailableClientError("absent 1 can't be installed: no such package")


ASKED = TableRequest(
    clients=[
        ("librdkafka@here", lambda: program(Path(sys.executable), "confluent")),
        ("absent@1", absent),
    ],
    workloads=[find("produce"), find("transact")],
    scenarios=[("again", AGAIN), ("too-large", TOO_LARGE), ("elsewhere", ELSEWHERE)],
    trials=2,
    drawn=False,  # else a producer without idempotence may reorder records
)


def cells(out: Path, asked: TableRequest = ASKED) -> dict[str, Cell]:
    folder = Folder(out)
    with Brokers(LIBRDKAFKA) as brokers:
        ran = [*Matrix(asked, brokers, folder).run()]
    folder.close()
    # cells of an earlier run have the time at which the folder got them
    return {cell.name: cell.model_copy(update={"ended": None}) for cell in ran}


@pytest.mark.slow("runs a client several times")
@pytest.mark.timeout(120)
def test_each_cell_is_judged_with_its_evidence_and_is_not_run_again(tmp_path: Path) -> None:
    result = cells(tmp_path)
    words = {name: cell.verdict.word for name, cell in result.items()}
    assert words == {
        "librdkafka@here/produce/none": "fine",
        "librdkafka@here/produce/again": "fine",
        "librdkafka@here/produce/too-large": "fails",
        "librdkafka@here/produce/elsewhere": "not met",
        **{f"librdkafka@here/transact/{name}": "not run" for name, _ in ASKED.scenarios},
        **{
            f"absent@1/{workload}/{name}": "not run"
            for workload in ("produce", "transact")
            for name, _ in ASKED.scenarios
        },
    }
    (healthy, _) = result["librdkafka@here/produce/none"].trials
    assert healthy.settings == "acks all, timeout 30 s"
    failed = result["librdkafka@here/produce/too-large"]
    assert (failed.verdict.times, failed.verdict.of) == (2, 2)
    assert "MSG_SIZE_TOO_LARGE" in failed.verdict.why
    assert {one.seed for one in failed.trials} == {0, 1}
    assert result["librdkafka@here/produce/elsewhere"].trials == ()
    for name in "history.jsonl", "output.txt", "run.pcapng":
        assert (tmp_path / "cells" / failed.name / "1" / name).exists()
    assert "no such package" in result["absent@1/produce/again"].verdict.why
    assert "can't do transact" in result["librdkafka@here/transact/again"].verdict.why
    before = (tmp_path / "cells" / failed.name / "1" / "run.pcapng").stat()
    again = cells(tmp_path)
    assert again == result
    assert (tmp_path / "cells" / failed.name / "1" / "run.pcapng").stat() == before


@pytest.mark.slow("runs a client several times")
@pytest.mark.timeout(120)
def test_connections_are_cut_at_each_api_of_a_run_without_faults(tmp_path: Path) -> None:
    here = ("librdkafka@here", lambda: program(Path(sys.executable), "confluent"))
    requested = TableRequest([here], [find("produce")], [], trials=1, cuts=6)
    result = cells(tmp_path, requested)
    cuts = [name for name in result if "/cut-" in name]
    assert len(cuts) == 6
    assert "librdkafka@here/produce/cut-Metadata-1-after-the-broker-has-it" in cuts
    assert {result[name].trials[0].fired for name in cuts} == {1}
    (tmp_path / "cells" / "librdkafka@here" / "produce" / "none" / "0" / "run.pcapng").unlink()
    assert set(cells(tmp_path, requested)) == set(result)


@pytest.mark.slow("runs a client several times")
@pytest.mark.timeout(120)
def test_spread_scenarios_have_one_workload_each_and_the_same_for_all_clients(
    tmp_path: Path,
) -> None:
    both = [
        (name, lambda: program(Path(sys.executable), "confluent")) for name in ("one@1", "two@1")
    ]
    workloads = [find("produce"), find("compressed"), find("transact"), find("ten-minutes")]
    scenarios = [("again", AGAIN), ("too-large", TOO_LARGE), ("elsewhere", ELSEWHERE)]
    asked = TableRequest(both, workloads, scenarios, trials=1, drawn=False, spread=1)
    result = cells(tmp_path, asked)
    assert set(result) == {
        f"{client}/{cell}"
        for client in ("one@1", "two@1")
        for cell in (
            *("produce/none", "compressed/none", "transact/none", "ten-minutes/none"),
            *("produce/again", "compressed/too-large"),
        )
    }
    assert result["one@1/transact/none"].verdict.word == "not run"


LIES = """
import json, sys
request = json.loads(sys.stdin.readline())
for number in range(request["work"]["records"]):
    record = {"id": f"{request['topic']}-{number}", "topic": request["topic"]}
    print(json.dumps({"event": "sent", **record}))
    print(json.dumps({"event": "acknowledged", **record}))
print(json.dumps({"number": request["number"], "raised": None}), flush=True)
"""


@pytest.mark.slow("starts brokers")
@pytest.mark.timeout(120)
def test_a_client_that_loses_records_without_any_fault_is_a_finding(tmp_path: Path) -> None:
    liar = ("liar@here", lambda: Program([sys.executable, "-c", LIES]))
    result = cells(tmp_path, TableRequest([liar], [find("produce")], [("again", AGAIN)], trials=1))
    control = result["liar@here/produce/none"]
    assert (control.verdict.word, control.verdict.promised) == ("lost", True)
    assert result["liar@here/produce/again"].verdict.word == "not run"
    assert findings(result.values()) == [control]


class _Away(Brokers):
    """They can't be reached."""

    def bootstrap(self) -> str:
        raise OSError("nobody is there")


def test_brokers_that_are_gone_are_not_asked_for_each_cell(tmp_path: Path) -> None:
    clients = [(f"{number}@here", lambda: Program(["none"])) for number in range(5)]
    requested = TableRequest(clients, [find("produce")], [])
    with closing(Folder(tmp_path)) as folder, _Away(LIBRDKAFKA) as brokers:
        results = list(Matrix(requested, brokers, folder, side_by_side=1).run())
    whys = [cell.verdict.why for cell in results]
    assert (whys.count(f"{TROUBLE}nobody is there"), whys.count(GONE)) == (3, 2)
