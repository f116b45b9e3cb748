"""The cost of several requests in flight: the order in a partition when a request is retried.

The proxy refuses every tenth Produce request with a retriable error (NOT_ENOUGH_REPLICAS), and delays
responses by 5 ms, so that requests are in flight together. It belongs to document 004, whose producer it runs
on a broker of the document's time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from barnabas.designs.pipelined_producer.experiments import producer_runs
from barnabas.designs.pipelined_producer.peers import BLOCKING_0_8, Settings
from barnabas.designs.protocol_guide.client_0_8.topics import make_topic
from barnabas.designs.results.columns import most, of_runs, table_of, total
from barnabas.designs.results.markdown import paragraphs
from barnabas.designs.results.runs import figures, group
from barnabas.experiments.experiment import QUIET, Bench, Experiment, Measured
from barnabas.peers.apache import ApacheCluster

QUESTION: Final = (
    "Is order per partition kept with several requests in flight, with and without retries?"
)
VERSION: Final = "0.8.2.2"
MESSAGES, ROUNDS, BATCH = 400, 20, 5
SHORT: Final = {"messages": 150, "rounds": 2}

REFUSALS: Final = """
version: 1
rules:
  - name: refused
    match: {api: Produce, direction: request}
    when: {every: 10}
    do: {respond: {error: NOT_ENOUGH_REPLICAS}}
  - name: far away
    match: {api: Produce, direction: response}
    do: {delay: 5ms}
"""

_PATIENT: Final = Settings(batch_messages=BATCH, retries=20, retry_backoff_ms=5)
ARMS: Final = (
    ("blocking 0.8", replace(BLOCKING_0_8, batch_messages=BATCH, retries=20, retry_backoff_ms=5)),
    *((f"pipelined, {n} in flight", replace(_PATIENT, in_flight=n)) for n in (1, 2, 5)),
)
CASES: Final = (("no request refused", QUIET), ("every tenth refused", REFUSALS))


def run(bench: Bench) -> Measured:
    """Run all arms in both cases, in rounds."""
    how = bench.settings(SHORT, messages=MESSAGES, rounds=ROUNDS)
    step = bench.counter(len(CASES) * how["rounds"] * len(ARMS))
    arms = [(arm, settings, "order", [0], how["messages"]) for arm, settings in ARMS]
    with ApacheCluster(VERSION) as cluster:
        make_topic(cluster.brokers.values(), "order")
        runs = [
            {
                "case": case,
                **each_run,
                "in_flight": producer_runs.most_under_way(exchanges, by_connection=True),
                "refused": sum(bool(each.error) for each in exchanges),
            }
            for name, scenario in CASES
            for case, each_run, exchanges in producer_runs.in_rounds(
                bench, cluster.bootstrap, {name: scenario}, how, arms, step
            )
        ]
    return {"how": how, "runs": runs}


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    broken = [
        f"{arm}, {case}: broken in {bad} of {len(arm_runs)} runs"
        for (case, arm), arm_runs in group(runs, "case", "arm").items()
        if (bad := sum(not each_run["in_order"] for each_run in arm_runs))
    ]
    return paragraphs(
        f"Kafka {VERSION}, one partition, {how['messages']} messages in batches of {BATCH}, "
        f"{how['rounds']} rounds. The proxy refuses requests before a broker sees them, so nothing is "
        "written twice.",
        table_of(
            runs,
            {
                "arm": "arm",
                "case": "case",
                "runs in order": of_runs(lambda each_run: each_run["in_order"]),
                "seen in flight": most("in_flight"),
                "requests refused": total("refused"),
                "not acknowledged": lambda arm_runs: sum(
                    sum(each.values()) for each in figures(arm_runs, "problems")
                ),
            },
        ),
        f"Order: {'; '.join(broken) or 'it was never broken'}.",
        "The document requires order per partition \"if there are no retries\": what was in flight "
        "behind a refused request lies in front of it. The producer sends nothing new of a partition "
        "before what it has to send again, so with one in flight order survives.",
    )  # fmt: skip


EXPERIMENT: Final = Experiment(QUESTION, (VERSION,), run, write)
