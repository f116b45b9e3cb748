"""Clients that give partitions up while a commit of theirs has no response.

Each OffsetCommit is held for a while, and later requests pass. A client that waits for the response first
sends none; members join one after the other, so that present members have to join again. It uses a broker and
clients of today, and belongs to document 003: it tests whether its description of commitAsync still holds.
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.rebalances import arms
from barnabas.designs.rebalances.bed import PATIENCE
from barnabas.designs.rebalances.totals import counted
from barnabas.designs.results.columns import Column, table_of, total
from barnabas.designs.results.intervals import share
from barnabas.designs.results.markdown import bullets, paragraphs
from barnabas.designs.results.runs import Run
from barnabas.experiments.clients.client_process import ClientProcess, RunStopped
from barnabas.experiments.clients.draws import plain
from barnabas.experiments.clients.preparation import prepare
from barnabas.experiments.clients.runs import NUMBER, OUTPUT_LIMIT, parse_line
from barnabas.experiments.clients.traffic import parameters as parameters_of
from barnabas.experiments.clients.trial_setup import TrialSetup
from barnabas.experiments.clients.workloads import find as workload_of
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.registry import find

QUESTION: Final = (
    "Which of today's clients let a commit be overtaken by what gives its partitions up?"
)
VERSION: Final = "4.3.1"


class Case(NamedTuple):
    """A client with a workload, in a number of processes in one group."""

    client: str
    workload: str
    processes: int = 4


CASES: Final = (
    Case("java@4.3.1", "group"),
    Case("confluent-kafka@2.16.1", "group"),
    Case("franz-go@1.22.3", "group"),
    Case("sarama@1.61.1", "group"),
    Case("aiokafka@0.14.0", "group"),
    Case("kafka-python@3.0.12", "group"),
    Case("kafkajs@2.2.4", "group"),
    Case("platformatic-kafka@2.12.1", "group"),
    # these have two members in a process
    Case("confluent-kafka@2.16.1", "stored-offsets", 2),
    Case("java@4.3.1", "consumer-protocol", 2),
    Case("confluent-kafka@2.16.1", "consumer-protocol", 2),
)
RECORDS: Final = 600
APART: Final = 3.7
"""Seconds between two processes: a heartbeat of most libraries, and a rebalance."""
LASTS: Final = 15.0
"""Seconds from the first process to the end of all."""
HELD: Final = 300
"""Milliseconds that an OffsetCommit is held."""
RULES: Final = f"""
version: 1
rules:
  - name: commits are late
    match: {{api: OffsetCommit, direction: request}}
    do: {{hold: {{time: {HELD}ms}}}}
"""


def run(bench: Bench) -> Measured:
    """Run one case after the other, through a proxy each. Raises UnavailableClientError."""
    cases = CASES[:1] if bench.short else CASES
    programs = {case.client: find(case.client).prepare() for case in cases}
    runs: list[dict[str, Any]] = []
    step = bench.counter(len(cases))
    with suppress(KeyboardInterrupt), _brokers() as cluster:
        for number, case in enumerate(cases):
            step(f"{case.client} {case.workload}")
            topic = f"clients-{secrets.token_hex(5)}"
            workload = workload_of(case.workload)._replace(records=RECORDS)
            prepare(TrialSetup(cluster.bootstrap, bench.folder), topic, workload)
            with bench.between(cluster.bootstrap, RULES, str(number)) as proxy:
                work = {
                    **parameters_of(plain(workload), workload, topic, 0),
                    **workload.work(stay=LASTS),
                }
                parameters = {"bootstrap": proxy.bootstrap_server, "topic": topic, "work": work}
                received = _together(case, programs[case.client], parameters, proxy.capture.parent)
            exchanges = list(open_capture(proxy.capture).exchanges())
            runs.append({**case._asdict(), **figures(exchanges, received)})
    return {"how": {"held": HELD, "version": VERSION}, "runs": runs}


def _brokers() -> ApacheCluster:
    """Return brokers with short sessions, and quick heartbeats in the consumer protocol."""
    return ApacheCluster(VERSION, settings=arms.BROKER, timeout=PATIENCE)


def _together(case: Case, program: Program, parameters: dict[str, Any], folder: Path) -> list[str]:
    """Return the ids of the records that the processes received until the end of their time."""
    received: list[str] = []
    over = threading.Event()

    def work(number: int) -> None:
        if over.wait(number * APART):
            return
        task = {"number": NUMBER, "run": workload_of(case.workload).program, **parameters}
        with (
            (folder / f"output-{number}.txt").open("wb", buffering=0) as printed,
            ClientProcess(program, task, printed, OUTPUT_LIMIT) as process,
            suppress(RunStopped),
        ):
            for line in process.lines(LASTS, over):
                message = parse_line(line)
                if message.get("event") == "consumed":
                    received.append(message["id"])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(case.processes)]
    for thread in threads:
        thread.start()
    try:
        over.wait(LASTS)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    return received


class Commit(NamedTuple):
    """An OffsetCommit, from its arrival to its response, in ns."""

    came: int
    answered: float
    connection: int
    error: str | None


def figures(exchanges: Iterable[Exchange], given: Sequence[str]) -> dict[str, Any]:
    """Return the figures of a case. given: ids of records.

    gave_up: how often members that had committed gave partitions up. behind, elsewhere: how many of these
    requests were sent while a commit of that member had no response, on the same connection or on another
    one. errors: of these commits' responses.
    """
    commits: dict[str, list[Commit]] = defaultdict(list)
    gave_up, delayed, elsewhere, owned = 0, 0, 0, Counter[str]()
    errors: list[str] = []
    for exchange in sorted(exchanges, key=lambda each: (each.ts, each.correlation_id)):
        request = exchange.request or {}
        member = request.get("member_id", "")
        gives_up = _gives_up(exchange.api, request, owned)
        if exchange.api == "OffsetCommit":
            answered = (
                float("inf")
                if exchange.latency_ms is None
                else exchange.ts + exchange.latency_ms * 1e6
            )
            commits[member].append(
                Commit(exchange.ts, answered, exchange.connection, exchange.error)
            )
        elif gives_up and commits[member]:
            gave_up += 1
            open_ones = [each for each in commits[member] if each.answered > exchange.ts]
            same = any(each.connection == exchange.connection for each in open_ones)
            delayed += same
            elsewhere += bool(open_ones) and not same
            errors += [each.error or "no error" for each in open_ones]
    total = [each for client_commits in commits.values() for each in client_commits]
    return {
        "commits": len(total),
        "refused": sum(bool(each.error) for each in total),
        "gave_up": gave_up,
        "behind": delayed,
        "elsewhere": elsewhere,
        "errors": errors,
        "given": len(given),
        "twice": len(given) - len(set(given)),
    }


def _gives_up(api: str, request: dict[str, Any], owned: Counter[str]) -> bool:
    """Check for a JoinGroup, or a heartbeat with fewer partitions than the member's last.

    owned: the partitions of each member's last heartbeat; updated.
    """
    if api == "JoinGroup":
        return True
    topics = request.get("topic_partitions") if api == "ConsumerGroupHeartbeat" else None
    if topics is None:
        return False
    member, count = request["member_id"], sum(len(each["partitions"]) for each in topics)
    before, owned[member] = owned[member], count
    return count < before


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    columns: dict[str, str | Column] = {
        "client": "client",
        "workload": "workload",
        "commits": total("commits"),
        "refused": total("refused"),
        "gave partitions up": total("gave_up"),
        "behind a commit, same connection": total("behind"),
        "on another connection": total("elsewhere"),
        "answers of such commits": lambda cell_runs: counted(cell_runs[0]["errors"]) or "none",
        "delivered twice": total("twice"),
    }
    intro = (
        f"Members of a group read and commit on a broker of Kafka {how['version']}, one that comes after the "
        "other. With `group` and `consumer-protocol` each commits what it has read and waits for that; with "
        "`stored-offsets` the library commits. The proxy holds each OffsetCommit for "
        f"{how['held']} ms, and what is sent behind it passes: a JoinGroup (or, in the consumer protocol, a "
        "heartbeat that names fewer partitions than the one before) which a member sends before its commit "
        "is answered overtakes that. Answers come in the order in which the client asked. `Gave partitions "
        "up`: such requests of members that had committed, from the proxy's capture. `Delivered twice`: by "
        "the ids of the records that the applications were given; what was not committed yet when a member "
        "gave its partitions up is among them."
    )
    return paragraphs(intro, table_of(runs, columns), bullets(map(_follows, runs)))


def _follows(run: Run) -> str:
    name, count = f"{run['client']} ({run['workload']})", run["gave_up"]
    overtaken = run["behind"] + run["elsewhere"]
    if not count:
        return f"{name}: no member gave partitions up."
    if overtaken:
        return f"{name} did not wait for the answer of a commit in {share(overtaken, count)} cases."
    return f"{name}: no commit was unanswered in any of {count} cases."


EXPERIMENT: Final = Experiment(QUESTION, (VERSION,), run, write)
