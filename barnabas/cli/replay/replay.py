"""`barnabas replay`: recorded clients against a live cluster, and which responses differ."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Self

from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.tls.keylog import KeyLog
from barnabas.cli.captures.compared import document, where
from barnabas.cli.captures.input import bar, only_kafka, opened, read, undamaged
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.counted import counted
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.console.show import line, shown
from barnabas.cli.proxy.tls_contexts import broker_tls
from barnabas.cli.replay.options import ReplayOptions
from barnabas.loop import run
from barnabas.peers.ownership import OPTION, is_loopback
from barnabas.peers.replay.authentication import Credentials, authenticate
from barnabas.peers.replay.cluster import LiveCluster, Unreachable
from barnabas.peers.replay.connection import Address, LiveConnection
from barnabas.peers.replay.order import Index, TooLarge, in_order, index
from barnabas.peers.replay.outcome import OF_THE_CLUSTER, Outcome
from barnabas.peers.replay.player import Player, PlayerOptions
from barnabas.peers.replay.topics import CREATE_TOPICS, missing_topics
from barnabas.plural import plural
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble


@dataclass(frozen=True, slots=True)
class Replay:
    """What is asked for, and what was made of it before anything is sent."""

    asked: ReplayOptions
    tls: ssl.SSLContext | None = None
    credentials: Credentials | None = None
    keys: KeyLog | None = None
    """Those of TLS in the capture."""

    @classmethod
    def of(cls, asked: ReplayOptions) -> Self:
        """Return the replay of these options. Raises Trouble for a file that can't be read."""
        credentials = asked.sasl.credentials()
        return cls(asked, broker_tls(asked.tls), credentials, read_keys(asked.tls_keys))


@dataclass(slots=True)
class Report:
    """What came of the exchanges so far."""

    output: Output
    as_json: bool
    sent: int = 0
    different: int = 0
    failed: int = 0
    left: Counter[str] = field(default_factory=Counter)
    """API and why its exchanges were not sent, as it should be."""
    unplayable: Counter[str] = field(default_factory=Counter)
    """The same of those that could not be replayed."""

    def add(self, outcome: Outcome) -> None:
        """Count an outcome; print it if it is a finding."""
        if outcome.omission is not None:
            what = f"{outcome.exchange.api} v{outcome.exchange.version}: {outcome.omission.reason}"
            (self.left if outcome.omission.expected else self.unplayable)[what] += 1
        else:
            self.sent += 1
            self.different += bool(outcome.differences)
            self.failed += bool(outcome.problem)
        if outcome.finding:
            self.output.raw(json_text(_row(outcome))) if self.as_json else self._print(outcome)

    def _print(self, outcome: Outcome) -> None:
        out = self.output.out
        sign = "≠" if outcome.differences else "✗"
        out.print(f"{sign} ", end="", style="yellow" if outcome.differences else "red")
        self.output.segments(line(shown(outcome.exchange)))
        if outcome.omission is not None:
            self.output.line(f"    not replayable: {outcome.omission.reason}")
        if outcome.problem:
            self.output.line(f"    {outcome.problem}")
        if outcome.version not in (None, outcome.exchange.version):
            self.output.line(f"    sent as v{outcome.version}")
        for one in outcome.differences:
            self.output.line(f"    response {one}")

    def end(self) -> int:
        """Say what it comes to; the exit code."""
        note = self.output.note
        for what, count in self.left.most_common():
            note(f"not sent: {what} ({count})")
        for what, count in self.unplayable.most_common():
            note(f"not replayable: {what} ({count})")
        note(
            f"{plural(self.sent, 'exchange')} replayed, {plural(self.different, 'response')} "
            f"{'differs' if self.different == 1 else 'differ'}, {self.failed} without a response, "
            f"{self.unplayable.total()} not replayable"
        )
        return FINDINGS if self.different or self.failed or self.unplayable else FINE


def replay(job: Replay, output: Output | None = None) -> int:
    """Replay, print the responses that differ; returns the exit code. Raises Trouble.

    SIGINT or SIGTERM end it: FINDINGS, since not all was compared.
    """
    output = output or Output()
    for address in job.asked.bootstrap_server:
        _check_own(job, address)
    try:
        capture = opened(job.asked.file, keys=job.keys)
        only_kafka(capture, "replay")
        first = read(capture, capture.exchanges(bar(output, "reading")), output)
        found = index(_wanted(job, first, output.note))
        found.topics = capture.topics | found.topics
        if not found.order:
            raise Trouble(f"{job.asked.file} has no replayable requests", COULD_NOT_RUN)
        report = Report(output, job.asked.as_json)
        run(_play(job, found, report, output))
    except asyncio.CancelledError:
        output.note("interrupted before the end of the recording")
        report.end()
        return FINDINGS
    except TooLarge as problem:
        raise Trouble(f"{job.asked.file}: {problem} (--filter)", COULD_NOT_RUN) from None
    except Unreachable as problem:
        raise Trouble(f"can't reach the live cluster: {problem}", COULD_NOT_RUN) from None
    return report.end()


async def _play(job: Replay, found: Index, report: Report, output: Output) -> None:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)

    async def dial(address: Address) -> LiveConnection:
        _check_own(job, address)
        connection = await LiveConnection.open(address, job.tls)
        try:
            if job.credentials is not None:
                await authenticate(connection, job.credentials)
        except BaseException:
            await connection.close()
            raise
        return connection

    cluster = LiveCluster(job.asked.bootstrap_server, dial)
    try:
        await cluster.start()
    except asyncio.CancelledError:
        await cluster.stop()
        raise
    await _check_topics(cluster, found, job, output)
    with _counted(output, len(found.order)) as advance:

        def done(outcome: Outcome) -> None:
            report.add(outcome)
            advance()

        asked = job.asked
        manner = PlayerOptions(
            speed=asked.speed,
            allowed=frozenset(asked.allow),
            shift_ms=time.time_ns() // 10**6 - found.began // 10**6 if asked.shift_time else 0,
            ignore=(*(() if asked.everything else OF_THE_CLUSTER), *asked.ignore),
        )
        player = Player(cluster, found, done, manner)
        capture = opened(asked.file, keys=job.keys)
        only_kafka(capture, "replay")
        again = undamaged(capture, capture.exchanges())
        try:
            await player.play(in_order(_wanted(job, again), found.order))
        finally:
            await cluster.stop()


async def _check_topics(cluster: LiveCluster, found: Index, job: Replay, output: Output) -> None:
    """Warn of topics that the recording needs and the cluster does not have."""
    created = found.needed.created if CREATE_TOPICS in job.asked.allow else ()
    needed = found.needed.partitions(found.topics)
    said = list(missing_topics(needed, await cluster.partitions(), created))
    for what in said:
        output.note(f"WARNING: {what}")
    if said:
        output.note(
            "Create them with as many partitions, or expect other responses"
            + (
                "; --allow CreateTopics replays the recorded requests that create them"
                if found.needed.created
                else ""
            )
        )


def _check_own(job: Replay, address: Address) -> None:
    """Raises Trouble for a broker on another machine, unless that is allowed."""
    if not job.asked.own and not is_loopback(address[0]):
        raise Trouble(
            f"{endpoint_text(address)} is not this machine, and a replay writes to its target: if "
            f"you own it, give {OPTION}"
        )


def _wanted(
    job: Replay, found: Iterator[Exchange], note: Callable[[str], None] = lambda _: None
) -> Iterator[Exchange]:
    """The exchanges of the capture that shall be replayed. note: see `parse_filter`."""
    if job.asked.only is None:
        return found
    from barnabas.cli.console.parsing import (
        parse_filter,  # what else it parses takes long to import
    )

    return filter(parse_filter(job.asked.only, {}, note), found)


@contextlib.contextmanager
def _counted(output: Output, total: int) -> Iterator[Callable[[], None]]:
    """A progress bar, where somebody looks and the results go elsewhere."""
    if output.out.is_terminal:
        yield lambda: None
        return
    with counted(output) as progress:
        task = progress.add_task("replaying", total=total)
        yield lambda: progress.advance(task)


def _row(outcome: Outcome) -> dict[str, object]:
    return {
        "recorded": where(outcome.exchange),
        "version": outcome.version,
        "not_replayable": None if outcome.omission is None else outcome.omission.reason,
        "problem": outcome.problem or None,
        "response": [document(one, "recorded", "live") for one in outcome.differences],
    }
