"""What idempotence repairs of the order that retries break, with Kafka's own producer.

The pipelined producer of document 004 promises order "if there are no retries". Kafka's producer has had
sequence numbers since 0.11 (KIP-98): a broker refuses a batch that does not follow the one before. But it
only can if it knows one: the first batches of a producer are a case of their own.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any, Final

from barnabas.designs.pipelined_producer.experiments import producing
from barnabas.experiments import plots
from barnabas.experiments.diagram import Step, sequence, steps
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.experiments.intervals import share
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient, JavaError

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

FAR: Final = """
  - name: far away
    match: {api: Produce, direction: response}
    do: {delay: 10ms}
"""
FIRST: Final = "the first request refused"
CASES: Final = (
    ("nothing refused", "version: 1\nrules:" + FAR),
    (
        "every tenth refused, in steady state",
        f"""
version: 1
rules:
  - name: refused
    match: {{api: Produce, direction: request}}
    when: {{skip: {STEADY}, every: 10}}
    do: {{respond: {{error: NOT_ENOUGH_REPLICAS}}}}
{FAR}""",
    ),
    (
        FIRST,
        f"""
version: 1
rules:
  - name: refused
    match: {{api: Produce, direction: request}}
    when: {{times: 1}}
    do: {{respond: {{error: NOT_ENOUGH_REPLICAS}}}}
{FAR}""",
    ),
    (
        "an answer lost, in steady state",
        f"""
version: 1
rules:
  - name: lost
    match: {{api: Produce, direction: request}}
    when: {{skip: {STEADY}, times: 1}}
    do: lose_reply
{FAR}""",
    ),
)


def run(bench: Bench) -> Measured:
    """All arms in all cases, in rounds: each with a producer of its own, to the same partition."""
    how: dict[str, Any] = {"messages": MESSAGES, "rounds": ROUNDS, "delivery_ms": DELIVERY_MS}
    how |= SHORT if bench.short else {}
    runs: list[dict[str, Any]] = []
    pictures: dict[str, list[Step]] = {}
    cases, arms = (CASES[1:3], ARMS[1:]) if bench.short else (CASES, ARMS)
    total = len(cases) * len(arms) * how["rounds"]
    with ApacheCluster(VERSION) as cluster:
        producing.make_topic(cluster.brokers.values(), TOPIC)
        for case, scenario in cases:
            folder = bench.folder / case.replace(" ", "-").replace(",", "")
            folder.mkdir()
            made: list[dict[str, Any]] = []
            with (
                bench.proxy(cluster.bootstrap, scenario, folder) as proxy,
                JavaClient(VERSION, {"bootstrap.servers": proxy.bootstrap_server}) as client,
            ):
                for number in range(how["rounds"]):
                    for arm, idempotent, in_flight in arms:
                        bench.step(len(runs) + len(made), total, f"{case}, {arm}")
                        name = f"{arm}, round {number}"
                        found = send(client, name, idempotent, in_flight, how["messages"])
                        made.append({"case": case, "arm": arm, "round": number, **found})
            by_client = producing.produced(proxy.capture)
            for one in made:
                exchanges = by_client[f"{one['arm']}, round {one['round']}"]
                one["in_flight"] = producing.most_under_way(exchanges, by_connection=True)
                one["errors"] = dict(Counter(each.error for each in exchanges if each.error))
                if case == FIRST and one["arm"] == ARMS[-1][0] and not pictures:
                    pictures[f"{case}, {one['arm']}"] = steps(exchanges[:DRAWN])
            runs += made
    return {"how": how, "runs": runs, "drawn": pictures}


def send(
    client: JavaClient, name: str, idempotent: str, in_flight: int, count: int
) -> dict[str, Any]:
    """Send numbered messages, a batch each; where they lie, and what the producer says if it fails."""
    settings = {
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
    return {
        "in_order": in_order(offsets),
        "extra": max(offsets) - min(offsets) + 1 - len(set(offsets)),
        "problems": {},
    }


def in_order(offsets: list[int]) -> bool:
    """Whether what was sent later lies behind what was sent before.

    >>> in_order([3, 4, 9]), in_order([3, 5, 4])
    (True, False)
    """
    return all(before < after for before, after in pairwise(offsets))


def write(measured: Measured) -> str:
    """The result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    lines = [
        "| case | producer | runs in order | records written twice | producers that failed "
        "| seen in flight | errors that it got |",
        "|---|---|---|---|---|---|---|",
    ]
    put = [(case, arm) for case, _ in CASES for arm, *_ in ARMS if _own(runs, case, arm)]
    for case, arm in put:
        own = _own(runs, case, arm)
        errors: Counter[str] = Counter()
        for one in own:
            errors.update(one["errors"])
        lines.append(
            f"| {case} | {arm} | {_ordered(own)} "
            f"| {_twice(own)} | {sum(bool(o['problems']) for o in own)} "
            f"| {max(one['in_flight'] for one in own)} | "
            + (", ".join(f"{name}: {count}" for name, count in sorted(errors.items())) or "-")
            + " |"
        )
    said = []
    for case, _ in CASES[1:]:
        plain, idempotent = (_own(runs, case, arm) for arm, *_ in ARMS[1:])
        if not plain:  # a short run has only some
            continue
        said.append(
            f"- {case[0].upper()}{case[1:]}: without idempotence {_ordered(plain)} "
            f"runs are in order, and {_twice(plain)} records are there twice; with it "
            f"{_ordered(idempotent)}, and {_twice(idempotent)}."
        )
    for case, arm in put:
        own = [one for one in _own(runs, case, arm) if one["problems"]]
        if own:
            said.append(
                f"- {case[0].upper()}{case[1:]}, {arm}: {len(own)} producers failed, with "
                f"{own[0]['problems']['failed']}."
            )
    pictures = "\n\n".join(
        f"## {name[0].upper()}{name[1:]}: the first requests of one run\n\n"
        f"```mermaid\n{sequence(drawn)}\n```"
        for name, drawn in measured["drawn"].items()
    )
    return (
        f"Kafka {VERSION}, broker and Java producer; {how['messages']} messages, each a batch and a request "
        f"of its own, to one partition with acks=all; {how['rounds']} rounds. enable.idempotence is set in "
        "each arm. Refused requests never get to the broker; a lost answer is that of a request that it "
        "has carried out. The proxy lets answers leave 10 ms later, so that requests are in flight "
        "together. Records written twice are offsets between the first and the last message of a run "
        "that no message was told; of a producer that failed they are not known. Intervals are Wilson's, "
        "95 %.\n\n"
        + "\n".join(lines)
        + "\n\n## What follows\n\n"
        + "\n".join(said)
        + "\n\nIn steady state the broker knows the sequence number before, and refuses what was "
        "in flight behind a request that is missing (OUT_OF_ORDER_SEQUENCE_NUMBER); the "
        "producer sends all of it again in order. For a new producer it has no number to "
        "compare with, so it accepts whichever batch comes first. The batch with number 0 is "
        "then out of order for good: sent again it is refused until the producer gives it up "
        f"(delivery.timeout.ms, here {how['delivery_ms']} ms).\n\n" + pictures + "\n"
    )


def _own(runs: list[dict[str, Any]], case: str, arm: str) -> list[dict[str, Any]]:
    return [one for one in runs if (one["case"], one["arm"]) == (case, arm)]


def _known(own: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without those that failed: they do not say where their messages are."""
    return [one for one in own if not one["problems"]]


def _twice(own: list[dict[str, Any]]) -> str:
    known = _known(own)
    return str(sum(one["extra"] for one in known)) if known else "unknown"


def _ordered(own: list[dict[str, Any]]) -> str:
    known = _known(own)
    return share(sum(one["in_order"] for one in known), len(known)) if known else "unknown"


def drawn(measured: Measured) -> dict[str, str]:
    """Runs in order, in percent, by case."""
    groups: dict[str, list[tuple[float, float]]] = {}
    for at, (case, _) in enumerate(CASES):
        for arm, *_ in ARMS:
            own = _own(measured["runs"], case, arm)
            if own:
                ordered = sum(one["in_order"] is True for one in own)
                groups.setdefault(arm, []).append((at + 1, 100 * ordered / len(own)))
    cases = "; ".join(f"{at + 1} {case.split(',')[0]}" for at, (case, _) in enumerate(CASES))
    return {"order": plots.lines("Order kept", cases, "runs (%)", groups)}


EXPERIMENT: Final = Experiment(
    "Which reordering by retries does idempotence prevent, in steady state and at a producer's "
    "first requests?",
    (VERSION,),
    run,
    write,
    drawn,
)
