"""`barnabas demo`: an embedded cluster, real clients, and the proxy with a scenario between them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import undecodable
from barnabas.captures.reader import CaptureReader
from barnabas.cli.console.output import Output, capture_line
from barnabas.cli.console.printer import Printer, not_printed
from barnabas.cli.demo.claims import Claim, all_arrived, in_log_order, in_order
from barnabas.cli.demo.clients import (
    Received,
    aiokafka_round,
    brokers_known,
    consume_once,
    consume_with_rebalance,
    produce,
)
from barnabas.cli.peers.built_in import running
from barnabas.harness import Harness
from barnabas.proxy.network.report import report
from barnabas.proxy.scenario.file import load
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble

HOLD: Final = "a commit behind a heartbeat"
"""The rule whose effect a claim checks."""

SCENARIO: Final = Path(__file__).with_name("scenario.yaml")


def demo(capture: Path) -> int:
    """Run the demo; return the exit code, FINE if every claim holds. Raises Trouble."""
    output = Output()
    try:
        import aiokafka  # noqa: F401
        import confluent_kafka  # noqa: F401
    except ImportError as problem:
        raise Trouble(
            f"the demo needs two Kafka clients: install barnabas with the extra 'demo' ({problem})",
            COULD_NOT_RUN,
        ) from None
    exchanges: list[Exchange] = []
    printer = Printer(output, output.learning(output.exchange))

    def done(exchange: Exchange) -> None:
        exchanges.append(exchange)
        printer.exchange(exchange)
        printer.write()

    try:
        with running("embedded") as brokers:
            bootstrap = brokers.bootstrap
            printer.say(f"an embedded cluster of three brokers runs at {bootstrap}: {brokers.note}")
            proxy = Harness(
                bootstrap, scenario=load(SCENARIO), capture=capture, done=done, say=printer.say
            )
            with proxy:
                output.flag = lambda exchange: proxy.proxy.note(undecodable(exchange))
                observed = _run(proxy.bootstrap, printer.say)
    except TimeoutError as problem:  # a subclass of OSError
        raise Trouble(f"the demo did not finish: {problem}", COULD_NOT_RUN) from None
    except OSError as problem:
        raise Trouble(
            f"can't write {capture}: {problem.strerror}; choose another --capture"
        ) from None
    claims = list(_claims(observed, proxy, exchanges, capture))
    output.note("")
    remarks = [*output.remarks(), *not_printed({printer.broken: printer.unwritten})]
    output.summary(replace(report(proxy.proxy), capture=None), remarks, output.undecoded)
    output.note("")
    for claim in claims:
        style = "green" if claim.held else "bold red"
        mark = "PASS" if claim.held else "FAIL"
        output.err.print(f"{mark}  ", end="", style=style)
        output.err.print(claim.text)
    output.note("")
    assert proxy.capture is not None  # noqa: S101
    output.note(capture_line(proxy.capture.state))
    here = "barnabas" if shutil.which("barnabas") else os.path.relpath(sys.argv[0])
    listeners = [
        proxy.proxy.address,
        *(node.listen for node in proxy.proxy.topology.nodes.values()),
    ]
    ports = " ".join(f"-d tcp.port=={port},kafka" for _, port in listeners)
    output.note(f"next:    {here} decode {capture} --json | head -1")
    output.note(f"         tshark -r {capture} {ports} -Y kafka   (or open it in Wireshark)")
    return FINE if all(claim.held for claim in claims) else FINDINGS


class Observed(NamedTuple):
    """The records that clients sent and received, by topic, and the brokers that they know."""

    sent: dict[str, Received]
    received: dict[str, Received]
    members: tuple[int, int]
    known: set[tuple[str, int]]


def _run(at: str, say: Callable[[str], None]) -> Observed:
    """Run the clients."""
    say("- confluent-kafka: an idempotent producer sends 200 records to orders")
    idempotent = {"enable.idempotence": True}
    orders = produce(at, "orders", _values("order", 0, 200), **idempotent)

    def more() -> int:
        say("- a second consumer has joined the group; 200 more records are sent")
        for partition, values in produce(
            at, "orders", _values("order", 200, 400), **idempotent
        ).items():
            orders[partition] += values
        return 400

    say("- confluent-kafka: a consumer group reads orders and commits asynchronously")
    orders_read, first_count, second_count = consume_with_rebalance(
        at, "orders-service", "orders", more
    )
    say("- confluent-kafka: a producer that is not idempotent sends 400 records to payments")
    small_batches = {"batch.num.messages": 20, "linger.ms": 1}
    payments = produce(at, "payments", _values("payment", 0, 400), partitions=1, **small_batches)
    payments_read = consume_once(at, "payments", 400)
    say("- aiokafka: produces 200 records to clicks and reads them in a group")
    clicks, clicks_read = aiokafka_round(at, "clicks", _values("click", 0, 200))
    return Observed(
        {"orders": orders, "payments": payments, "clicks": clicks},
        {"orders": orders_read, "payments": payments_read, "clicks": clicks_read},
        (first_count, second_count),
        brokers_known(at),
    )


def _values(name: str, first: int, end: int) -> list[str]:
    return [f"{name}-{number}" for number in range(first, end)]


def _claims(
    observed: Observed, proxy: Harness, exchanges: list[Exchange], capture: Path
) -> Iterator[Claim]:
    """Yield the claims about the run."""
    for topic, sent in observed.sent.items():
        yield all_arrived(topic, sent, observed.received[topic])
    for topic in ("orders", "clicks"):
        yield in_order(topic, observed.sent[topic], observed.received[topic])
    yield in_log_order(
        "payments", exchanges, observed.sent["payments"], observed.received["payments"]
    )
    first_count, second_count = observed.members
    yield Claim(
        f"orders: both members of the group consumed, {first_count} and {second_count} records",
        first_count > 0 < second_count,
    )
    commit, heartbeat = _overtaken(exchanges)
    yield Claim(
        "reordering: a held OffsetCommit reached the broker after the Heartbeat that was sent after it",
        commit is not None and heartbeat is not None,
    )
    ours = {node.listen for node in proxy.proxy.topology.nodes.values()}
    yield Claim(
        f"addresses: clients know {len(observed.known)} brokers, each by the proxy's address",
        observed.known == ours,
    )
    fired = sum(rule.fired > 0 for rule in proxy.rules.rules)
    yield Claim(
        f"rules: {fired} of {len(proxy.rules.rules)} fired", fired == len(proxy.rules.rules)
    )
    read = [exchange.row() for exchange in Conversations().exchanges(CaptureReader(capture))]
    logged = [exchange.row() for exchange in exchanges]
    yield Claim(
        f"capture: decoding it gives the same {len(logged)} exchanges as the live log",
        sorted(map(str, read)) == sorted(map(str, logged)),
    )


def _overtaken(exchanges: list[Exchange]) -> tuple[Exchange | None, Exchange | None]:
    """Return the held commit, and a heartbeat of its connection that was sent meanwhile.

    The commit left when the broker got it: `latency - broker_ms` after it arrived.
    """
    held = [x for x in exchanges if x.api == "OffsetCommit" and HOLD in x.rules]
    commit = held[0] if held else None
    if commit is None or commit.latency_ms is None or commit.broker_ms is None:
        return None, None
    # the commit leaves right after the heartbeat, in the same ns: add the rounding error of floats
    sent_at = commit.ts + round((commit.latency_ms - commit.broker_ms) * 1e6) + 1000
    for exchange in exchanges:
        same = exchange.connection == commit.connection and exchange.api == "Heartbeat"
        # both may have arrived at once: correlation ids have the order in which the client sent them
        later = exchange.correlation_id > commit.correlation_id
        if same and later and commit.ts <= exchange.ts <= sent_at:
            return commit, exchange
    return commit, None
