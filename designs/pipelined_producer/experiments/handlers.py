"""The gain of several requests in flight where a broker handles a connection's requests one at a time.

The document wants to use that "requests for different partitions can be handled by different request handler
threads". The delay is put in four places: on the way back and on the way there (the proxy delays), at the
broker for each request of a connection (the proxy limits the rate), and in the broker itself: with acks=all
it waits for followers, whose Fetch it holds (`replica.fetch.min.bytes`). It belongs to document 004, whose
claim about request handlers it tests on an old and a new broker.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Final

from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.experiments import producer_runs
from barnabas.designs.pipelined_producer.peers import Settings
from barnabas.designs.pipelined_producer.peers.batch import magic_for
from barnabas.designs.protocol_guide.client_0_8 import Client, requests
from barnabas.designs.protocol_guide.client_0_8.client import Connection
from barnabas.designs.protocol_guide.client_0_8.topics import make_topic
from barnabas.designs.results import plots
from barnabas.designs.results.columns import table_of
from barnabas.designs.results.intervals import middle
from barnabas.designs.results.markdown import bullets, capitalized, paragraphs
from barnabas.designs.results.runs import Run, figures, group, select
from barnabas.experiments.experiment import QUIET, Bench, Experiment, Measured
from barnabas.peers.apache import ApacheCluster
from barnabas.specs.keys import PRODUCE
from barnabas.specs.records import Record, build

QUESTION: Final = (
    "What do several requests in flight gain where a broker handles a connection's requests one "
    "at a time?"
)
VERSIONS: Final = {"0.8.2.2": 0, "4.3.1": 12}
"""Kafka -> version of Produce."""
TOPIC: Final = "handlers"
TAKES: Final = 50
"""Milliseconds, wherever they are spent."""
SEVERAL: Final = 5
"""Requests in flight, connections, and partitions of the broker that they go to."""
BROKERS, MESSAGES, ROUNDS = 2, 20, 6
PARTITIONS: Final = 2 * BROKERS * SEVERAL
"""Enough partitions for a broker to lead several, however they are spread."""
SHORT: Final = {"messages": 10, "rounds": 1}
HELD: Final = {
    "num.partitions": str(PARTITIONS),
    "default.replication.factor": str(BROKERS),
    "replica.fetch.wait.max.ms": str(TAKES),
    "replica.fetch.min.bytes": "1000000",
}
"""Settings of the brokers: the leader holds a follower's Fetch, and records that arrive meanwhile."""
ONE_EACH: Final = Settings(batch_messages=1, request_bytes=400)
"""A message a request: there is no room for another partition."""

ALONE: Final = "1 in flight, 1 connection"
ARMS: Final = (
    (ALONE, 1, 1),
    (f"{SEVERAL} in flight, 1 connection", SEVERAL, 1),
    (f"1 in flight, {SEVERAL} connections", 1, SEVERAL),
)
"""Name, requests in flight on a connection, connections to the broker."""


def _rule(direction: str, do: str) -> str:
    match = f"match: {{api: Produce, direction: {direction}}}"
    return f"version: 1\nrules: [{{name: slow, {match}, do: {{{do}}}}}]\n"


AT_BROKER: Final = "acks=all, followers come late"
CASES: Final = (
    ("the way back takes it", 1, _rule("response", f"delay: {TAKES}ms")),
    ("the way there takes it", 1, _rule("request", f"delay: {TAKES}ms")),
    (
        "one request of a connection at a time",
        1,
        _rule("request", f"throttle: {{messages: {1000 // TAKES}, per: connection}}"),
    ),
    (AT_BROKER, -1, QUIET),
)
"""Name, acks, scenario."""


def run(bench: Bench) -> Measured:
    """Run all arms in all cases, in rounds; then quick requests next to slow ones."""
    how = bench.settings(SHORT, messages=MESSAGES, rounds=ROUNDS)
    step = bench.counter(len(VERSIONS) * len(CASES) * how["rounds"] * len(ARMS))
    runs: list[Run] = []
    beside: list[Run] = []
    for version, api_version in VERSIONS.items():
        with ApacheCluster(version, BROKERS, settings=HELD) as cluster:
            make_topic(cluster.brokers.values(), TOPIC)
            with Client(cluster.brokers.values()) as client:
                metadata = client.refresh([TOPIC])
            node = metadata.leaders[TOPIC, 0]
            led = [
                partition[1]
                for partition, leader in sorted(metadata.leaders.items())
                if leader == node
            ]
            for case, acks, scenario in CASES:
                arms = [
                    (arm, replace(ONE_EACH, in_flight=in_flight, acks=acks), *to, connections)
                    for to in [(TOPIC, led[:SEVERAL], how["messages"])]
                    for arm, in_flight, connections in ARMS
                ]
                scenarios = {f"Kafka {version}, {case}": scenario}
                labels = {"version": version, "case": case}
                for _, each_run, exchanges in producer_runs.in_rounds(
                    bench, cluster.bootstrap, scenarios, how, arms, step
                ):
                    runs.append({**labels, **each_run, **producer_runs.in_flight_counts(exchanges)})
            for _ in range(how["rounds"]):
                for connections in (1, 2):
                    took = quick_after_slow(
                        metadata.brokers[node], api_version, led[1], connections
                    )
                    beside.append({"version": version, "connections": connections, **took})
    return {"how": how, "runs": runs, "beside": beside}


def quick_after_slow(
    leader: Address, version: int, quick: int, connections: int
) -> dict[str, float]:
    """Send a request with acks=all to partition 0, and one with acks=1 to another right after it.

    connections: 1, or 2 if each has its own. Returns the milliseconds until each response. Raises
    RuntimeError if the broker refuses a request.
    """
    with ExitStack() as stack:
        following = [
            stack.enter_context(closing(Connection(leader, "handlers", producer_runs.PATIENCE)))
            for _ in range(connections)
        ]

        def ask(connection: Connection, acks: int, partition: int) -> None:
            records = build([Record(0, -1, None, bytes(100))], magic=magic_for(version))
            sets = {(TOPIC, partition): records}
            connection.send(PRODUCE, requests.produce_bytes(sets, acks, 10_000), version)

        def answer(connection: Connection) -> None:
            for error, _ in requests.produced(connection.receive()).values():
                if error:
                    raise RuntimeError(f"the broker answers error {error}")

        for each in following:  # the following requests begin right after a follower's Fetch
            ask(each, -1, 0)
            answer(each)
        begun = time.perf_counter()
        ask(following[0], -1, 0)
        ask(following[-1], 1, quick)
        took = {}
        # on one connection the slow response comes first
        in_order = [("slow", following[0]), ("quick", following[-1])]
        for name, each in in_order if connections == 1 else reversed(in_order):
            answer(each)
            took[name] = round((time.perf_counter() - begun) * 1e3, 2)
    return took


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    parts = [
        f"{BROKERS} brokers; {how['messages']} messages of 100 bytes a run to {SEVERAL} partitions of one "
        f"of them in turn, each a request of its own; {how['rounds']} rounds. {TAKES} ms are spent in one "
        "of four places: the proxy delays responses or requests; it lets "
        f"{1000 // TAKES} requests a second of each connection through, one after the other; or "
        "the broker itself waits, with acks=all and followers whose Fetch it holds for up to so "
        "long (replica.fetch.min.bytes, replica.fetch.wait.max.ms). Each connection has a producer of its "
        "own. Figures are requests a second: medians, in brackets the values between which they lie (95 % "
        "from six rounds on)."
    ]  # fmt: skip
    for version in VERSIONS:
        parts += [f"## Kafka {version}", *_gains(select(runs, version=version))]
        parts.append(_quick_request_text(select(measured["beside"], version=version)))
    parts.append(
        "## What follows\n\nWhat is spent on the way is gained back by requests in flight, on "
        "one connection or several. What a broker spends is not: it reads a connection's next "
        "request when it has answered the one before, so that handlers work in parallel for "
        "different connections only. The document expects the second from pipelining, too "
        "(\"requests for different partitions can be handled by different request handler "
        "threads on the broker\")."
    )  # fmt: skip
    return paragraphs(*parts)


def _gains(runs: list[Run]) -> Iterator[str]:
    """Write the table of a version, and the gain in each case."""
    arms = [arm for arm, *_ in ARMS]
    yield table_of(
        runs,
        {
            f"where {TAKES} ms are spent": "case",
            **{arm: producer_runs.rate_of(arm=arm) for arm in arms},
            "seen in flight on a connection": lambda case_runs: ", ".join(
                str(max(figures(select(case_runs, arm=arm), "in_flight"))) for arm in arms
            ),
        },
    )
    gains = []
    for (case,), case_runs in group(runs, "case").items():
        medians = {arm: statistics.median(producer_runs.rates(case_runs, arm=arm)) for arm in arms}
        alone = medians.pop(ALONE)
        several = ", ".join(f"{each / alone:.1f} times ({arm})" for arm, each in medians.items())
        gains.append(f"{capitalized(case)}: {several}.")
    yield bullets(gains)


def _quick_request_text(runs: list[Run]) -> str:
    """Write how long a quick request waits for a slow one."""
    same, apart = (select(runs, connections=number) for number in (1, 2))
    return (
        "A request with acks=1 right behind one with acks=all to another partition: answered after "
        f"{_ms(same, 'quick')} ms on the same connection (the slow one after "
        f"{_ms(same, 'slow')}), after {_ms(apart, 'quick')} ms on a connection of its own (the "
        f"slow one after {_ms(apart, 'slow')})."
    )  # fmt: skip


def _ms(runs: list[Run], name: str) -> str:
    return middle(figures(runs, name))


def drawn(measured: Measured) -> dict[str, str]:
    """Plot the requests a second of each version, where the way or the broker takes the time."""
    places = {"way": CASES[0][0], "broker": AT_BROKER}
    return {
        version: plots.dots(
            f"Requests a second, Kafka {version}",
            "requests a second",
            {
                f"{index}: {arm}": producer_runs.rates(
                    measured["runs"], version=version, case=case, arm=arm
                )
                for index, case in places.items()
                for arm, *_ in ARMS
            },
        )
        for version in VERSIONS
    }


EXPERIMENT: Final = Experiment(QUESTION, tuple(VERSIONS), run, write, drawn)
