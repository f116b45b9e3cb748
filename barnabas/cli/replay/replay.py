"""`barnabas replay`: sends recorded requests to a live cluster, and prints responses that differ."""

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
from barnabas.cli.captures.difference_rows import document, where
from barnabas.cli.captures.input import bar, only_kafka, opened, read, undamaged
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.console.progress import progress_bar
from barnabas.cli.console.show import line, log_line_of
from barnabas.cli.proxy.tls_contexts import broker_tls
from barnabas.cli.replay.options import ReplayOptions
from barnabas.loop import run
from barnabas.peers.ownership import refusal
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
    """A replay: its options, and the files that were read for them."""

    options: ReplayOptions
    tls: ssl.SSLContext | None = None
    credentials: Credentials | None = None
    keys: KeyLog | None = None
    """The keys of TLS in the capture."""

    @classmethod
    def of(cls, options: ReplayOptions) -> Self:
        """Return the replay of these options. Raises Trouble for an unreadable file."""
        credentials = options.sasl.credentials()
        return cls(options, broker_tls(options.tls), credentials, read_keys(options.tls_keys))


@dataclass(slots=True)
class Report:
    """Counters of the outcomes of exchanges."""

    output: Output
    as_json: bool
    sent: int = 0
    different: int = 0
    failed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    """Counts of exchanges that were not sent on purpose, by API and reason."""
    unplayable: Counter[str] = field(default_factory=Counter)
    """Counts of exchanges that could not be replayed, by API and reason."""

    def add(self, outcome: Outcome) -> None:
        """Count an outcome; print it if it is a finding."""
        if outcome.omission is not None:
            label = f"{outcome.exchange.api} v{outcome.exchange.version}: {outcome.omission.reason}"
            (self.skipped if outcome.omission.expected else self.unplayable)[label] += 1
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
        self.output.segments(line(log_line_of(outcome.exchange)))
        if outcome.omission is not None:
            self.output.line(f"    not replayable: {outcome.omission.reason}")
        if outcome.problem:
            self.output.line(f"    {outcome.problem}")
        if outcome.version not in (None, outcome.exchange.version):
            self.output.line(f"    sent as v{outcome.version}")
        for difference in outcome.differences:
            self.output.line(f"    response {difference}")

    def end(self) -> int:
        """Print the totals; return the exit code."""
        note = self.output.note
        for label, count in self.skipped.most_common():
            note(f"not sent: {label} ({count})")
        for label, count in self.unplayable.most_common():
            note(f"not replayable: {label} ({count})")
        note(
            f"{plural(self.sent, 'exchange')} replayed, {plural(self.different, 'response')} "
            f"{'differs' if self.different == 1 else 'differ'}, {self.failed} without a response, "
            f"{self.unplayable.total()} not replayable"
        )
        return FINDINGS if self.different or self.failed or self.unplayable else FINE


def replay(job: Replay) -> int:
    """Replay, and print the responses that differ; return the exit code. Raises Trouble.

    After SIGINT or SIGTERM the code is FINDINGS, since not all responses were compared.
    """
    output = Output()
    for address in job.options.bootstrap_server:
        _check_own(job, address)
    try:
        capture = opened(job.options.file, keys=job.keys)
        only_kafka(capture, "replay")
        first = read(capture, capture.exchanges(bar(output, "reading")), output)
        recording = index(_wanted(job, first, output.note))
        recording.topics = capture.topics | recording.topics
        if not recording.order:
            raise Trouble(f"{job.options.file} has no replayable requests", COULD_NOT_RUN)
        report = Report(output, job.options.as_json)
        run(_play(job, recording, report, output))
    except asyncio.CancelledError:
        output.note("interrupted before the end of the recording")
        report.end()
        return FINDINGS
    except TooLarge as problem:
        raise Trouble(f"{job.options.file}: {problem} (--filter)", COULD_NOT_RUN) from None
    except Unreachable as problem:
        raise Trouble(f"can't reach the live cluster: {problem}", COULD_NOT_RUN) from None
    return report.end()


async def _play(job: Replay, recording: Index, report: Report, output: Output) -> None:
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

    cluster = LiveCluster(job.options.bootstrap_server, dial)
    try:
        await cluster.start()
    except asyncio.CancelledError:
        await cluster.stop()
        raise
    await _check_topics(cluster, recording, job, output)
    with _counted(output, len(recording.order)) as advance:

        def done(outcome: Outcome) -> None:
            report.add(outcome)
            advance()

        options = job.options
        manner = PlayerOptions(
            speed=options.speed,
            allowed=frozenset(options.allow),
            shift_ms=time.time_ns() // 10**6 - recording.began // 10**6
            if options.shift_time
            else 0,
            ignore=(*(() if options.everything else OF_THE_CLUSTER), *options.ignore),
        )
        player = Player(cluster, recording, done, manner)
        capture = opened(options.file, keys=job.keys)
        only_kafka(capture, "replay")
        recorded_again = undamaged(capture, capture.exchanges())
        try:
            await player.play(in_order(_wanted(job, recorded_again), recording.order))
        finally:
            await cluster.stop()


async def _check_topics(
    cluster: LiveCluster, recording: Index, job: Replay, output: Output
) -> None:
    """Warn of topics that the recording needs and the cluster lacks."""
    created = recording.needed.created if CREATE_TOPICS in job.options.allow else ()
    needed = recording.needed.partitions(recording.topics)
    warnings = list(missing_topics(needed, await cluster.partitions(), created))
    for warning in warnings:
        output.note(f"WARNING: {warning}")
    if warnings:
        output.note(
            "Create them with as many partitions, or expect other responses"
            + (
                "; --allow CreateTopics replays the recorded requests that create them"
                if recording.needed.created
                else ""
            )
        )


def _check_own(job: Replay, address: Address) -> None:
    """Raise Trouble for a broker on another machine, unless the option allows it."""
    consequence, name = "a replay writes to its target", endpoint_text(address)
    if reason := refusal(address[0], consequence, owned=job.options.owned, name=name):
        raise Trouble(reason)


def _wanted(
    job: Replay, exchanges: Iterator[Exchange], note: Callable[[str], None] = lambda _: None
) -> Iterator[Exchange]:
    """Return the exchanges of the capture that are replayed. note: see `parse_filter`."""
    if job.options.only is None:
        return exchanges
    from barnabas.cli.console.parsing import parse_filter

    return filter(parse_filter(job.options.only, {}, note), exchanges)


@contextlib.contextmanager
def _counted(output: Output, total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar if stderr is a terminal and stdout is none."""
    if output.out.is_terminal:
        yield lambda: None
        return
    with progress_bar(output) as progress:
        task = progress.add_task("replaying", total=total)
        yield lambda: progress.advance(task)


def _row(outcome: Outcome) -> dict[str, object]:
    return {
        "recorded": where(outcome.exchange),
        "version": outcome.version,
        "not_replayable": None if outcome.omission is None else outcome.omission.reason,
        "problem": outcome.problem or None,
        "response": [
            document(difference, "recorded", "live") for difference in outcome.differences
        ],
    }
