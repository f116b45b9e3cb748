"""The time of a rebalance: only poll sends JoinGroup, so a newcomer waits for the slowest member.

It uses brokers of 2017 and of today, and belongs to document 003, which states that of poll.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final, NamedTuple

from barnabas.designs.rebalances import arms
from barnabas.designs.rebalances.arms import CASES
from barnabas.designs.rebalances.bed import Bed
from barnabas.designs.rebalances.figures import Run as GroupRun
from barnabas.designs.rebalances.figures import gives_up
from barnabas.designs.rebalances.timed_exchanges import TimedExchange
from barnabas.designs.rebalances.totals import spread_of
from barnabas.designs.results.columns import Column, table_of, total
from barnabas.designs.results.markdown import paragraphs
from barnabas.designs.results.plots import lines
from barnabas.designs.results.runs import Run, group
from barnabas.experiments.experiment import QUIET, Bench, Experiment, Measured

QUESTION: Final = (
    "When does a rebalance happen, and why does delivery stop until the slowest member polls?"
)
RUNS: Final = 8
NEAR: Final = 50
"""Milliseconds by which the clocks of a client and of the proxy may differ."""


class Work(NamedTuple):
    """The seconds that a member works after a poll, and its max.poll.interval.ms, in seconds."""

    seconds: float
    interval: float


WORKS: Final = (Work(0.5, 300), Work(2, 300), Work(4, 300), Work(8, 300), Work(8, 4))
SHORT: Final = (Work(0.5, 300), Work(3, 300))


def run(bench: Bench) -> Measured:
    """Run all lengths of work at once, with several groups of each."""
    cases = CASES[:1] if bench.short else CASES
    works, count = (SHORT, 2) if bench.short else (WORKS, RUNS)
    runs: list[Run] = []
    step = bench.counter(len(cases))
    with suppress(KeyboardInterrupt):  # the measurements until then are the result
        for version, protocol in cases:
            step(f"{version} {protocol}")
            with Bed(version, bench) as bed:
                works_by_name = {name: work for work in works for name in bed.names(count)}
                groups = {
                    name: _members(name, work, protocol) for name, work in works_by_name.items()
                }
                for each_run in bed.run(groups, f"{version}-{protocol}", QUIET):
                    labels = {
                        "version": version,
                        "protocol": protocol,
                        **works_by_name[each_run.group]._asdict(),
                    }
                    runs.append({**labels, **figures(each_run)})
    return {"runs": runs}


def _members(name: str, work: Work, protocol: arms.Protocol) -> list[dict[str, Any]]:
    steps = (("commit", "sync", "first"), ("say", "come"), ("work", work.seconds))
    members = arms.two_members(name, protocol, *steps)
    members[0]["settings"]["max.poll.interval.ms"] = f"{work.interval * 1000:.0f}"
    return members


def figures(run: GroupRun) -> Run:
    """Return the newcomer's wait for its first record, and its parts (ms); None: never.

    gives_up_ms: from the end of m's work to the request with which m joins, or gives a partition up; the
    clocks of client and proxy may differ. reads_ms: from that to the newcomer's first record.
    """
    times = {
        (letter, kind): next((event[0] for event in member if event[1] == kind), None)
        for letter, member in run.members.items()
        for kind in ("subscribes", "reads", "works", "worked")
    }
    begin, end = times["m", "works"], times["m", "worked"]
    first, subscribed = times["a", "reads"], times["a", "subscribes"]
    exchanges = [exchange for exchange in run.passed if exchange.letter == "m"]
    following = [exchange for exchange in exchanges if begin is not None and exchange.came > begin]
    released = next((exchange.came for exchange in following if gives_up(exchange)), None)
    departures = [
        exchange
        for exchange in following
        if leaves(exchange) and end is not None and exchange.came < end
    ]
    return {
        "waited_ms": _ms(subscribed, first),
        "gives_up_ms": _ms(end, released),
        "reads_ms": _ms(released, first),
        "leaves": len(departures),
        "joins": sum(exchange.api == "JoinGroup" for exchange in exchanges),
    }


def leaves(exchange: TimedExchange) -> bool:
    """Check whether a request leaves the group."""
    if exchange.api == "ConsumerGroupHeartbeat":
        return bool(exchange.request["member_epoch"] < 0)
    return exchange.api == "LeaveGroup"


def _ms(begin: float | None, end: float | None) -> int | None:
    return None if begin is None or end is None else round((end - begin) * 1000)


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    parts = [
        "Member m has both partitions and has read from them; it then works, without a call of poll, and "
        "the newcomer subscribes when that begins. `Waited`: from the newcomer's subscribe to its first "
        "record. `m gives up`: from the end of its work to its JoinGroup, or to the ConsumerGroupHeartbeat "
        "with which it gives a partition up (negative: before the end). `Newcomer reads`: from that to the "
        "newcomer's first record. Medians, with the least and the most. `m leaves`: LeaveGroup requests, or "
        "heartbeats of a negative epoch, in that time, in all runs; `JoinGroup`: of m, from first to last."
    ]
    for (version, protocol), group_runs in group(measured["runs"], "version", "protocol").items():
        parts += [
            f"## Kafka {version}, {protocol} protocol",
            table_of(group_runs, COLUMNS),
            _follows(group_runs),
        ]
    return paragraphs(*parts)


COLUMNS: Final[dict[str, str | Column]] = {
    "work, s": "seconds",
    "max.poll.interval, s": "interval",
    "runs": len,
    "waited, ms": spread_of("waited_ms"),
    "m gives up, ms after its work": spread_of("gives_up_ms"),
    "newcomer reads, ms after that": spread_of("reads_ms"),
    "m leaves": total("leaves"),
    "JoinGroup": total("joins"),
}


def _follows(runs: list[Run]) -> str:
    longer = [run for run in runs if run["seconds"] <= run["interval"]]
    given_up = [run["gives_up_ms"] for run in longer]
    late = sum(each is not None and each >= -NEAR for each in given_up)
    interrupted = [run for run in runs if run["seconds"] > run["interval"]]
    sooner = sum((run["waited_ms"] or 1e9) < run["seconds"] * 1000 for run in interrupted)
    sentences = f"In {late} of {len(longer)} runs m gave up nothing before its work was over"
    sentences += f" ({NEAR} ms are allowed for two clocks)."
    if interrupted:
        sentences += (
            f" Where the work took longer than max.poll.interval.ms, the newcomer got records before its "
            f"end in {sooner} of {len(interrupted)} runs, and the member left the group by itself in "
            f"{sum(run['leaves'] > 0 for run in interrupted)}."
        )
    return sentences


def plots(measured: Measured) -> dict[str, str]:
    """Plot the newcomer's wait against the member's work, below max.poll.interval.ms."""
    series: dict[str, list[tuple[float, float]]] = {}
    for run in measured["runs"]:
        if run["waited_ms"] is not None and run["seconds"] <= run["interval"]:
            name = f"{run['version']} {run['protocol']}"
            series.setdefault(name, []).append((run["seconds"], run["waited_ms"]))
    title = "What a newcomer waits for its first record"
    return {"waits": lines(title, "work between two polls (s)", "ms", series)} if series else {}


VERSIONS: Final = tuple(dict.fromkeys(version for version, _ in CASES))
EXPERIMENT: Final = Experiment(QUESTION, VERSIONS, run, write, plots)
