"""`barnabas explore` on programs that do well and on programs that don't, and what it says of them."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from barnabas.cli.console.output import Output
from barnabas.cli.explore.report import Report
from barnabas.experiments.explore.result import Result
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.clients.python import program as client_program
from barnabas.proxy.scenario.file import load
from tests.barnabas.cli.command import run
from tests.barnabas.cli.test_app import BARNABAS
from tests.places import ROOT

pytestmark = pytest.mark.slow("each runs a program many times")

PROGRAM = str(Path(__file__).with_name("explored.py"))
COPIER = str(Path(__file__).with_name("copied.py"))
BEFORE, BROKER, AFTER = "before the request", "after the broker has it", "after the reply"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs find our packages, and explorations have a folder of their own."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)


LOADING = "COORDINATOR_LOAD_IN_PROGRESS"


def explore(bootstrap: str, *arguments: str | int | Path) -> tuple[int, str, str]:
    return run("explore", "-b", bootstrap, *arguments)


def program(how: str) -> tuple[str, ...]:
    return "--", sys.executable, PROGRAM, how


def rows(out: str) -> list[dict[str, Any]]:
    """The results of runs, without the last line, which says what was not tried."""
    return [row for row in map(json.loads, out.splitlines()) if "not_tried" not in row]


def kinds(row: dict[str, Any]) -> list[str]:
    return [found["kind"] for found in row["findings"]]


def test_a_program_that_does_well(bootstrap: str) -> None:
    code, out, err = explore(
        bootstrap, "--json", "--api", "metadata,InitProducerId", "--per-api", 1, *program("careful")
    )
    recorded, *runs = rows(out)
    assert code == 0, out
    errors = {"Metadata": "LEADER_NOT_AVAILABLE", "InitProducerId": "COORDINATOR_LOAD_IN_PROGRESS"}
    assert [(row["api"], row["cut"]) for row in runs] == [
        (api, cut) for api, error in errors.items() for cut in (BEFORE, BROKER, AFTER, error)
    ]
    assert all(row["reached"] and row["history"] for row in runs)
    assert {row["outcome"] for row in runs} == {recorded["outcome"]} == {"fine"}
    assert all(row["recovery_ms"] for row in runs if row["cut"] != AFTER)
    assert "8 runs, 0 with findings" in err
    not_tried = json.loads(out.splitlines()[-1])["not_tried"]
    assert not_tried["runs"]["of other APIs (--api)"] > 0
    assert not_tried["errors"]["InitProducerId"] == [
        *("CLUSTER_AUTHORIZATION_FAILED", "CONCURRENT_TRANSACTIONS", "PRODUCER_FENCED"),
        *("REQUEST_TIMED_OUT", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
    ]
    assert "MESSAGE_TOO_LARGE" in not_tried["errors"]["Produce"]
    assert "delays" in not_tried["kinds"]
    assert "of other APIs (--api)" in err
    assert "5 of InitProducerId" in err
    assert "faults not tried: delays; " in err
    assert os.listdir("exploration/runs") == ["recording"]


def test_a_program_that_sends_again_what_is_there(bootstrap: str) -> None:
    arguments = ["--api", "Produce", *program("again")]
    code, out, err = explore(bootstrap, "--json", *arguments)
    found = {row["cut"]: row for row in rows(out) if row["api"]}
    assert code == 1
    assert [kinds(found[cut]) for cut in (BEFORE, BROKER, AFTER)] == [[], ["duplicated"], []]
    assert found[BROKER]["findings"][0]["ids"] == [f"r{number}" for number in range(5)]
    assert found[BROKER]["recovery_ms"] > 0
    file = Path("exploration/scenarios") / found[BROKER]["scenario"]
    assert f"--only {file} -- {sys.executable} {PROGRAM} again  # 3 of 3" in err
    assert (found[BROKER]["reproduced"], found[BROKER]["repeated"]) == (3, 3)
    assert (found[AFTER]["reproduced"], found[AFTER]["repeated"]) == (0, 0)
    assert (Path("exploration/runs") / file.stem / "history.jsonl").exists()

    # the file alone does it again
    assert load(file).rules[0].do[0].name == "lose_reply"
    code, out, _ = explore(bootstrap, "--json", "--only", file, *program("again"))
    (again,) = rows(out)
    assert (code, kinds(again), again["k"]) == (1, ["duplicated"], found[BROKER]["k"])

    # what was done is not done again: the rows are the same, down to their tokens
    code, out, _ = explore(bootstrap, "--json", *arguments)
    assert code == 1
    assert {row["cut"]: row for row in rows(out) if row["api"]} == found
    code, out, _ = explore(bootstrap, *arguments)
    assert code == 1
    head, recorded, *lines = out.splitlines()
    assert head.split() == ["k", "API", "client", "fault", "outcome", "recovery", "what"]
    assert recorded.startswith("- ")
    assert [BROKER in line for line in lines] == ["duplicated: 5" in line for line in lines]

    # and it is another exploration with another program
    code, _, err = explore(bootstrap, *arguments[:2], *program("careful"))
    assert (code, "with another command" in err) == (2, True)


def fill(bootstrap: str, topic: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    for number in range(5):
        producer.produce(topic, f"r{number}", partition=0)
    assert producer.flush(10) == 0


def copier(how: str, source: str) -> tuple[str, ...]:
    return "--", sys.executable, COPIER, how, source, "copies-{run}"


REFUSED = ("--json", "--api", "OffsetCommit", "--per-api", 1)


def test_a_program_that_drops_a_record_when_its_commit_is_refused(bootstrap: str) -> None:
    code, out, err = explore(bootstrap, *REFUSED, *copier("drops", "orders-{run}"))
    found = {row["cut"]: row for row in rows(out) if row["findings"]}
    assert code == 1, out
    assert {cut: kinds(row) for cut, row in found.items()} == {
        "REBALANCE_IN_PROGRESS": ["not in output"]
    }
    assert found["REBALANCE_IN_PROGRESS"]["findings"][0]["ids"] == ["r0"]
    assert found["REBALANCE_IN_PROGRESS"]["reproduced"] == 3
    expect = "--expect orders-{run}:copies-{run}:at-least-once"
    assert f"as in the recording: {expect}" in err
    assert "--expect 'orders-{run}:copies-{run}:at-least-once' --only" in err


def test_a_dropped_record_is_not_in_the_output_of_a_program_without_a_history(
    bootstrap: str,
) -> None:
    fill(bootstrap, "filled")
    expect = ("--expect", "filled:copies-{run}")
    code, out, err = explore(bootstrap, *REFUSED, *expect, *copier("drops silently", "filled"))
    found = {row["cut"]: row for row in rows(out) if row["findings"]}
    assert code == 1, out
    assert {cut: kinds(row) for cut, row in found.items()} == {
        "REBALANCE_IN_PROGRESS": ["not in output"]
    }
    assert found["REBALANCE_IN_PROGRESS"]["findings"][0]["ids"] == ["r0"]
    assert f"barnabas explore -b {bootstrap} --expect 'filled:copies-{{run}}' --only" in err
    assert "7 without a history: only --expect and the exit code checked" in err


def test_a_program_that_writes_first_drops_nothing_and_may_write_twice(bootstrap: str) -> None:
    expect = ("--expect", "orders-{run}:copies-{run}")
    code, out, _ = explore(bootstrap, *REFUSED, *expect, *copier("careful", "orders-{run}"))
    found = {row["cut"]: set(kinds(row)) for row in rows(out) if row["findings"]}
    assert code == 1, out
    assert found == {"ILLEGAL_GENERATION": {"duplicated", "twice in output"}}
    file = "exploration/scenarios/" + next(row["scenario"] for row in rows(out) if row["findings"])
    again = ("--expect", f"{expect[1]}:at-least-once", "--only", file)
    code, out, _ = explore(bootstrap, "--json", *again, *copier("careful", "orders-{run}"))
    assert [kinds(row) for row in rows(out)] == [["duplicated"]], out


def test_what_is_found_without_any_fault_ends_it(bootstrap: str) -> None:
    arguments = ["--api", "Produce", *program("boasting")]
    for _ in range(2):  # it is not kept: the program may have been mended
        code, out, err = explore(bootstrap, "--json", *arguments)
        (recorded,) = rows(out)
        assert (code, recorded["k"], kinds(recorded)) == (1, 0, ["lost"])
        assert "no fault was injected: the run without faults has findings already" in err
        assert "exploration/runs/recording" in err
    assert not Path("exploration/results.jsonl").exists()
    assert Path("exploration/runs/recording/history.jsonl").exists()


def test_what_failed_each_time_stands_first_among_what_is_to_be_repeated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = Report(Output(), True, Path("kept"), ["barnabas", "explore", "-b", "b:1"], ["orders"])
    for k, (repeated, reproduced) in enumerate([(0, 0), (3, 1), (3, 3), (3, 0)], start=1):
        report.add(
            Result(
                k=k, scenario=f"{k}.yaml", run="x", exit_code=1, seconds=1, history=True,
                repeated=repeated, reproduced=reproduced,
            )
        )  # fmt: skip
    report.close()
    said = [line.split() for line in capsys.readouterr().err.splitlines() if "--only" in line]
    assert [(line[5], line[8:]) for line in said] == [
        ("kept/scenarios/3.yaml", ["#", "3", "of", "3"]),
        ("kept/scenarios/2.yaml", ["#", "1", "of", "3"]),
        ("kept/scenarios/4.yaml", ["#", "0", "of", "3"]),
        ("kept/scenarios/1.yaml", []),
    ]


def test_other_faults_a_time_limit_and_no_history(bootstrap: str, tmp_path: Path) -> None:
    (tmp_path / "faults.yaml").write_text(
        "version: 1\nrules:\n  - {name: late, do: {delay: 50ms}}\n"
        "  - {name: never, match: {direction: response}, do: drop}\n"
        "  - {name: no such field, do: {edit: {set: {group_id: a}}}}\n"
    )
    limit = ("--time-limit", "4s", "--scenario", "faults.yaml")
    code, out, err = explore(bootstrap, *limit, "--api", "Produce", *program("silent"))
    assert code == 1
    late, never = (line for line in out.splitlines() if "Produce" in line)
    assert late.split()[4] == "fine"
    assert "still running after 4 s" in never
    assert "3 without a history: only the exit code checked" in err
    assert "1 with faults that do not apply to this API" in err


FAILS = "-c", "import sys; sys.exit('oh no')"


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (("no-such-program",), 3, "can't run no-such-program: No such file"),
        ((sys.executable, *FAILS), 3, "without any fault: exit code 1: oh no (see"),
        ((sys.executable, "-c", ""), 2, "no exchange to which a fault applies"),
    ],
)
def test_what_is_wrong_with_a_program_is_said_in_a_line(
    command: tuple[str, ...], code: int, said: str, bootstrap: str
) -> None:
    found = explore(bootstrap, "--", *command)
    assert (found[0], said in found[2]) == (code, True), found


@pytest.mark.needs_apache("4.3.1")
@pytest.mark.timeout(600)
def test_transactions_of_a_real_broker_survive_every_cut(kafka: ApacheCluster) -> None:
    names = ("InitProducerId", "AddPartitionsToTxn", "Produce", "EndTxn")
    here = shlex.join(client_program(Path(sys.executable), "confluent").line)
    client = ("--", sys.executable, "-m", "barnabas", "clients", "do", "--command", f"here={here}")
    work = ("--records", "4", "transact")
    chosen = ("--json", "--per-api", 1, "--api", ",".join(names))
    code, out, err = explore(kafka.bootstrap, *chosen, *client, *work)
    assert code == 0, out
    recorded, *runs = rows(out)
    assert sorted((row["api"], row["cut"]) for row in runs) == sorted(
        [
            *((name, cut) for name in names for cut in (BEFORE, BROKER, AFTER)),
            *(("InitProducerId", LOADING), ("EndTxn", LOADING)),
            ("AddPartitionsToTxn", "CONCURRENT_TRANSACTIONS"),
            *(("Produce", "NOT_LEADER_OR_FOLLOWER"), ("Produce", "MESSAGE_TOO_LARGE")),
        ]
    )
    assert all(row["reached"] and row["history"] for row in runs), out
    assert {row["outcome"] for row in (recorded, *runs) if not row["may_end"]} == {"fine"}
    assert "17 runs, 0 with findings" in err


def test_an_interrupt_ends_it_and_it_goes_on(bootstrap: str, tmp_path: Path) -> None:
    """The third run waits until a file is gone: it is interrupted meanwhile."""
    code = (
        "import os, runpy, sys, time\n"
        "runs = open('runs', 'a'); runs.write('%d\\n' % os.getpid()); runs.close()\n"
        "while os.path.exists('wait') and len(open('runs').readlines()) == 3:\n"
        "    time.sleep(0.01)\n"
        f"sys.argv = ['', 'careful']; runpy.run_path({PROGRAM!r}, run_name='__main__')\n"
    )
    command = [*BARNABAS, "explore", "-b", bootstrap]
    command += ["--time-limit", "60s", "--api", "InitProducerId", "--", sys.executable, "-c", code]
    (tmp_path / "wait").touch()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pids: list[str] = []
    end = time.monotonic() + 60
    while len(pids) < 3 and time.monotonic() < end:
        time.sleep(0.02)
        pids = (tmp_path / "runs").read_text().split() if (tmp_path / "runs").exists() else []
    assert len(pids) == 3
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted: run the same command to continue" in err
    assert "Traceback" not in err
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    done = len(Path("exploration/results.jsonl").read_text().splitlines())
    assert done == 2
    assert len(out.splitlines()) == 1 + done

    (tmp_path / "wait").unlink()
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert len(ended.stdout.splitlines()) == 1 + 1 + 4
    assert len((tmp_path / "runs").read_text().split()) == 3 + 3  # one of them twice
