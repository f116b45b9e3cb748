"""What several requests in flight cost: the order in a partition when one of them has to be sent again.

The proxy refuses every tenth Produce request with an error that is tried again (NOT_ENOUGH_REPLICAS),
and lets answers leave 5 ms later, so that requests are in flight together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from barnabas.designs.pipelined_producer.experiments import producing
from barnabas.designs.pipelined_producer.peers import BLOCKING_0_8, Settings
from barnabas.experiments.experiment import Bench, Experiment, Measured, address_of
from barnabas.peers.apache import ApacheCluster

VERSION: Final = "0.8.2.2"
PARTITIONS, MESSAGES, ROUNDS = 1, 400, 20
BATCH: Final = 5
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
QUIET: Final = "version: 1\nrules: []\n"

_PATIENT: Final = Settings(batch_messages=BATCH, retries=20, retry_backoff_ms=5)
ARMS: Final = (
    (
        "blocking 0.8",
        replace(BLOCKING_0_8, batch_messages=BATCH, retries=20, retry_backoff_ms=5),
    ),
    *((f"pipelined, {n} in flight", replace(_PATIENT, in_flight=n)) for n in (1, 2, 5)),
)
CASES: Final = (("no request refused", QUIET), ("every tenth refused", REFUSALS))


def run(bench: Bench) -> Measured:
    """All arms in both cases, in rounds."""
    how: dict[str, Any] = {"messages": MESSAGES, "rounds": ROUNDS, **(SHORT if bench.short else {})}
    runs: list[producing.Run] = []
    total = len(CASES) * how["rounds"] * len(ARMS)
    with ApacheCluster(VERSION) as cluster:
        producing.make_topic(cluster.brokers.values(), "order")
        for case, scenario in CASES:
            folder = bench.folder / case.replace(" ", "-")
            folder.mkdir()
            with bench.proxy(cluster.bootstrap, scenario, folder) as proxy:
                made: list[producing.Run] = []
                for number in range(how["rounds"]):
                    for arm, settings in ARMS:
                        bench.step(len(runs) + len(made), total, f"{case}, {arm}")
                        found = producing.produce(
                            address_of(proxy),
                            settings,
                            f"{arm}, round {number}",
                            "order",
                            range(PARTITIONS),
                            how["messages"],
                        )
                        made.append({"case": case, "arm": arm, "round": number, **found})
            by_client = producing.produced(proxy.capture)
            for one in made:
                exchanges = by_client[f"{one['arm']}, round {one['round']}"]
                one["in_flight"] = producing.most_under_way(exchanges, by_connection=True)
                one["refused"] = sum(bool(each.error) for each in exchanges)
            runs += made
    return {"how": how, "runs": runs}


def write(measured: Measured) -> str:
    """The result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    lines = [
        "| arm | case | runs in order | seen in flight | requests refused | not acknowledged |",
        "|---|---|---|---|---|---|",
    ]
    said = []
    for case, _ in CASES:
        for arm, _ in ARMS:
            own = [one for one in runs if (one["case"], one["arm"]) == (case, arm)]
            ordered = sum(one["in_order"] for one in own)
            lines.append(
                f"| {arm} | {case} | {ordered} of {len(own)} | {max(o['in_flight'] for o in own)} "
                f"| {sum(o['refused'] for o in own)} | {sum(sum(o['problems'].values()) for o in own)} |"
            )
            if ordered < len(own):
                said.append(f"{arm}, {case}: broken in {len(own) - ordered} of {len(own)} runs")
    broken = "; ".join(said) or "it was never broken"
    return (
        f"Kafka {VERSION}, one partition, {how['messages']} messages in batches of {BATCH}, "
        f"{how['rounds']} rounds. The proxy refuses requests before a broker sees them, so nothing is "
        "written twice.\n\n" + "\n".join(lines) + f"\n\nOrder: {broken}.\n\n"
        "The document requires order per partition \"if there are no retries\": what was in flight "
        "behind a refused request lies in front of it. The producer sends nothing new of a partition "
        "before what it has to send again, so with one in flight order survives.\n"
    )  # fmt: skip


EXPERIMENT: Final = Experiment(
    "Is order per partition kept with several requests in flight, with and without retries?",
    (VERSION,),
    run,
    write,
)
