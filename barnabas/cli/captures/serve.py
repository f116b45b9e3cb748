"""`barnabas serve`: the brokers of a capture, for a live client."""

from __future__ import annotations

import os
from pathlib import Path

from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.tls.keylog import KeyLog
from barnabas.cli.captures.input import bar, only_kafka, opened, read
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.listeners import listening
from barnabas.cli.console.output import Output
from barnabas.cli.console.stop import until_signal
from barnabas.loop import run
from barnabas.peers.recorded.broker import RecordedBroker
from barnabas.plural import plural
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble

LIMIT = 1 << 30
"""The most bytes of messages in memory."""


def serve(
    path: Path,
    listen: tuple[str, int],
    speed: float,
    keys: KeyLog | None = None,
) -> int:
    """Answer clients until a signal ends it; return FINDINGS if there were requests that were never recorded.

    Raises:
        Trouble: It can't start.
    """
    output = Output()
    broker = RecordedBroker(_exchanges(path, keys, output), speed=speed, say=output.note)
    if not broker.answers.recorded:
        raise Trouble(f"{path} has no recorded requests", COULD_NOT_RUN)
    return run(_main(broker, listen, output))


def _exchanges(path: Path, keys: KeyLog | None, output: Output) -> list[Exchange]:
    capture = opened(path, keys=keys)
    only_kafka(capture, "serve")
    exchanges: list[Exchange] = []
    size = 0
    for exchange in read(capture, capture.exchanges(bar(output, "reading")), output):
        size += exchange.request_size + (exchange.response_size or 0)
        if size > LIMIT:
            raise Trouble(
                f"{path} holds more than {LIMIT >> 20} MiB of messages: serve a slice "
                "of it (barnabas convert)",
                COULD_NOT_RUN,
            )
        exchanges.append(exchange)
    return sorted(exchanges, key=lambda exchange: exchange.ts)


async def _main(broker: RecordedBroker, listen: tuple[str, int], output: Output) -> int:
    stop = until_signal()
    with listening("--listen"):
        await broker.start(listen)
    ready = {"listen": endpoint_text(broker.listeners[None]), "pid": os.getpid()}
    output.ready(json_text({"ready": ready}))
    output.note(f"{plural(len(broker.answers.recorded), 'recorded exchange')} loaded")
    for node, address in broker.listeners.items():
        if node is not None:
            output.note(f"listening on {endpoint_text(address)} for {node[0]} {node[1]}")
    await stop.wait()
    await broker.stop()
    return _summary(broker, output)


def _summary(broker: RecordedBroker, output: Output) -> int:
    served = broker.served
    parts = [
        plural(served.connections, "connection"),
        f"{plural(served.answered.total(), 'request')} answered",
    ]
    parts += [f"{count} matched by {how}" for how, count in served.answered.most_common()]
    output.note(", ".join(parts))
    unrequested = broker.answers.unused()
    if unrequested:
        parts = [f"{count} {api}" for api, count in unrequested.most_common()]
        output.note(f"recorded but not requested: {', '.join(parts)}")
    for request, count in served.unknown.most_common():
        output.note(f"requested but not recorded: {request}, {plural(count, 'time')}")
    return FINDINGS if served.unknown else FINE
