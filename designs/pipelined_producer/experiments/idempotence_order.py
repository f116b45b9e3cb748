"""The effect of idempotence on the order that retries break, with Kafka's own producer.

The pipelined producer of document 004 promises order "if there are no retries". Kafka's producer has sequence
numbers since 0.11 (KIP-98): a broker refuses a batch that does not follow the preceding one. That requires a
preceding one: the first batches of a producer are a case of their own. It uses a broker and a client of
today, and belongs to document 004: it tests that document's condition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.experiments import producer_runs
from barnabas.designs.protocol_guide.client_0_8.topics import make_topic
from barnabas.designs.results import plots
from barnabas.designs.results.columns import most, table_of
from barnabas.designs.results.diagram import Step, sequence, steps
from barnabas.designs.results.intervals import share
from barnabas.designs.results.markdown import bullets, capitalized, counts, mermaid, paragraphs
from barnabas.designs.results.runs import Run, figures, group, select
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient, JavaError

QUESTION: Final = (
    "Which reordering by retries does idempotence prevent, in steady state and at a producer's "
    "first requests?"
)
VERSION: Final = "3.9.1"
MESSAGES, ROUNDS = 50, 10
SHORT: Final = {"rounds": 1}
TOPIC: Final = "order"
IN_FLIGHT: Final = 5
DELIVERY_MS: Final = 8_000
"""delivery.timeout.ms: when a producer gives a message up."""
STEADY: Final = 20
"""Requests that pass before anything happens."""
DRAWN: Final = 14
"""Exchanges of a diagram."""

ARMS: Final = (
    ("not idempotent, 1 in flight", "false", 1),
    (f"not idempotent, {IN_FLIGHT} in flight", "false", IN_FLIGHT),
    (f"idempotent, {IN_FLIGHT} in flight", "true", IN_FLIGHT),
)


def _fault(when: str, do: str) -> str:
    """Return a scenario with a fault in some Produce requests, and delayed responses."""
    rule = (
        f"{{name: fault, match: {{api: Produce, direction: request}}, when: {{{when}}}, do: {do}}}"
    )
    return producer_runs.late_answers(10).replace("[", f"[{rule}, ")


_REFUSE: Final = "{respond: {error: NOT_ENOUGH_REPLICAS}}"
FIRST: Final = "the first request refused"
CASES: Final = (
    ("nothing refused", producer_runs.late_answers(10)),
    ("every tenth refused, in steady state", _fault(f"skip: {STEADY}, every: 10", _REFUSE)),
    (FIRST, _fault("times: 1", _REFUSE)),
    ("an answer lost, in steady state", _fault(f"skip: {STEADY}, times: 1", "lose_reply")),
)


def run(bench: Bench) -> Measured:
    """Run all arms in all cases, in rounds: each with a producer of its own, to the same partition."""
    how = bench.settings(SHORT, messages=MESSAGES, rounds=ROUNDS, delivery_ms=DELIVERY_MS)
    runs: list[Run] = []
    pictures: dict[str, list[Step]] = {}
    cases, arms = (CASES[1:3], ARMS[1:]) if bench.short else (CASES, ARMS)
    step = bench.counter(len(cases) * len(arms) * how["rounds"])
    with ApacheCluster(VERSION) as cluster, JavaClient(VERSION, {}) as client:
        make_topic(cluster.brokers.values(), TOPIC)

        def send(address: Address, name: str, idempotent: str, in_flight: int) -> Run:
            return _send(client, address, name, idempotent, in_flight, how["messages"])

        for case in cases:
            for name, each_run, exchanges in producer_runs.in_rounds(
                bench, cluster.bootstrap, dict([case]), how, arms, step, send
            ):
                in_flight = producer_runs.most_under_way(exchanges, by_connection=True)
                errors = dict(Counter(each.error for each in exchanges if each.error))
                runs.append({"case": name, **each_run, "in_flight": in_flight, "errors": errors})
                if name == FIRST and each_run["arm"] == ARMS[-1][0] and not pictures:
                    pictures[f"{name}, {each_run['arm']}"] = steps(exchanges[:DRAWN])
    return {"how": how, "runs": runs, "drawn": pictures}


def _send(
    client: JavaClient, address: Address, name: str, idempotent: str, in_flight: int, count: int
) -> Run:
    """Send numbered messages, a batch each, and return their order or the producer's error."""
    settings = {
        "bootstrap.servers": "{}:{}".format(*address),
        "client.id": name,
        "enable.idempotence": idempotent,
        "max.in.flight.requests.per.connection": str(in_flight),
        "acks": "all",
        "retries": "100",
        "retry.backoff.ms": "5",
        "batch.size": "1",
        "linger.ms": "0",
        "delivery.timeout.ms": str(DELIVERY_MS),
        "request.timeout.ms": "5000",
    }
    values = [b"%0100d" % number for number in range(count)]
    try:
        sent = client.produce(TOPIC, values, settings=settings, partitions=[0] * count)
    except JavaError as problem:
        return {"in_order": None, "extra": None, "problems": {"failed": str(problem)[:200]}}
    offsets = [offset for _, offset in sent]
    extra = max(offsets) - min(offsets) + 1 - len(set(offsets))
    return {"in_order": in_order(offsets), "extra": extra, "problems": {}}


def in_order(offsets: list[int]) -> bool:
    """Check that the records are in the log in the order of sending."""
    return all(before < after for before, after in pairwise(offsets))


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    pictures = (
        f"## {capitalized(name)}: the first requests of one run\n\n{mermaid(sequence(drawn))}"
        for name, drawn in measured["drawn"].items()
    )
    return paragraphs(
        f"Kafka {VERSION}, broker and Java producer; {how['messages']} messages, each a batch and a request "
        f"of its own, to one partition with acks=all; {how['rounds']} rounds. enable.idempotence is set in "
        "each arm. Refused requests never get to the broker; a lost answer is that of a request that it "
        "has carried out. The proxy lets answers leave 10 ms later, so that requests are in flight "
        "together. Records written twice are offsets between the first and the last message of a run "
        "that no message was told; of a producer that failed they are not known. Intervals are Wilson's, "
        "95 %.",
        table_of(
            runs,
            {
                "case": "case",
                "producer": "arm",
                "runs in order": _ordered,
                "records written twice": _twice,
                "producers that failed": lambda cell_runs: sum(
                    map(bool, figures(cell_runs, "problems"))
                ),
                "seen in flight": most("in_flight"),
                "errors that it got": _errors,
            },
        ),
        "## What follows",
        bullets(_follows(runs)),
        "In steady state the broker knows the sequence number before, and refuses what was "
        "in flight behind a request that is missing (OUT_OF_ORDER_SEQUENCE_NUMBER); the "
        "producer sends all of it again in order. For a new producer it has no number to "
        "compare with, so it accepts whichever batch comes first. The batch with number 0 is "
        "then out of order for good: sent again it is refused until the producer gives it up "
        f"(delivery.timeout.ms, here {how['delivery_ms']} ms).",
        *pictures,
    )


def _errors(cell_runs: list[Run]) -> str:
    return counts(sum(map(Counter, figures(cell_runs, "errors")), Counter()), "-")


def _follows(runs: list[Run]) -> Iterator[str]:
    for case, _ in CASES[1:]:
        plain, idempotent = (select(runs, case=case, arm=arm) for arm, *_ in ARMS[1:])
        if plain:  # a short run has only some
            yield (
                f"{capitalized(case)}: without idempotence {_ordered(plain)} "
                f"runs are in order, and {_twice(plain)} records are there twice; with it "
                f"{_ordered(idempotent)}, and {_twice(idempotent)}."
            )
    for (case, arm), arm_runs in group(runs, "case", "arm").items():
        failed = [each_run["problems"]["failed"] for each_run in arm_runs if each_run["problems"]]
        if failed:
            yield f"{capitalized(case)}, {arm}: {len(failed)} producers failed, with {failed[0]}."


def _twice(cell_runs: list[Run]) -> str:
    """Write how many records were written twice; a producer that failed does not know."""
    known = select(cell_runs, problems={})
    return str(sum(run["extra"] for run in known)) if known else "unknown"


def _ordered(cell_runs: list[Run]) -> str:
    known = select(cell_runs, problems={})
    return share(sum(run["in_order"] for run in known), len(known)) if known else "unknown"


def drawn(measured: Measured) -> dict[str, str]:
    """Plot the percentage of runs in order by case."""
    cases = [case for case, _ in CASES]
    series: dict[str, list[tuple[float, float]]] = {}
    for (case, arm), arm_runs in group(measured["runs"], "case", "arm").items():
        ordered = 100 * len(select(arm_runs, in_order=True)) / len(arm_runs)
        series.setdefault(arm, []).append((cases.index(case) + 1, ordered))
    x = "; ".join(f"{at} {case.split(',')[0]}" for at, case in enumerate(cases, 1))
    return {"order": plots.lines("Order kept", x, "runs (%)", series)}


EXPERIMENT: Final = Experiment(QUESTION, (VERSION,), run, write, drawn)
