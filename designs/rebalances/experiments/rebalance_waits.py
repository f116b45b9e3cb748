"""When a rebalance happens: JoinGroup comes from poll only, so a newcomer waits for the slowest member.

It asks brokers of 2017 and of today, and belongs to document 003, which says that of poll.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final, NamedTuple

from barnabas.designs.rebalances import arms, judging
from barnabas.designs.rebalances.arms import CASES
from barnabas.designs.rebalances.counting import spread_of
from barnabas.designs.rebalances.judging import gives_up
from barnabas.designs.rebalances.passed import Passed
from barnabas.designs.rebalances.running import Bed
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
    """Run all lengths of work at once, so many groups of each."""
    cases = CASES[:1] if bench.short else CASES
    works, count = (SHORT, 2) if bench.short else (WORKS, RUNS)
    found: list[Run] = []
    step = bench.counter(len(cases))
    with suppress(KeyboardInterrupt):  # what was measured until then is the result
        for version, protocol in cases:
            step(f"{version} {protocol}")
            with Bed(version, bench) as bed:
                about = {name: work for work in works for name in bed.names(count)}
                groups = {name: _members(name, work, protocol) for name, work in about.items()}
                for one in bed.run(groups, f"{version}-{protocol}", QUIET):
                    own = {"version": version, "protocol": protocol, **about[one.group]._asdict()}
                    found.append({**own, **figures(one)})
    return {"runs": found}


def _members(name: str, work: Work, protocol: arms.Protocol) -> list[dict[str, Any]]:
    steps = (("commit", "sync", "first"), ("say", "come"), ("work", work.seconds))
    members = arms.two_members(name, protocol, *steps)
    members[0]["settings"]["max.poll.interval.ms"] = f"{work.interval * 1000:.0f}"
    return members


def figures(run: judging.Run) -> Run:
    """Return how long the newcomer waited for its first record, and for what (ms); None: not at all.

    gives_up_ms: from the end of m's work to the request with which m joins, or gives a partition up; the
    clocks of client and proxy may differ. reads_ms: from that to the newcomer's first record.
    """
    times = {
        (letter, what): next((seen[0] for seen in member if seen[1] == what), None)
        for letter, member in run.members.items()
        for what in ("subscribes", "reads", "works", "worked")
    }
    begin, end = times["m", "works"], times["m", "worked"]
    first, asked = times["a", "reads"], times["a", "subscribes"]
    own = [one for one in run.passed if one.letter == "m"]
    behind = [one for one in own if begin is not None and one.came > begin]
    released = next((one.came for one in behind if gives_up(one)), None)
    left = [one for one in behind if leaves(one) and end is not None and one.came < end]
    return {
        "waited_ms": _ms(asked, first),
        "gives_up_ms": _ms(end, released),
        "reads_ms": _ms(released, first),
        "leaves": len(left),
        "joins": sum(one.api == "JoinGroup" for one in own),
    }


def leaves(one: Passed) -> bool:
    """Check whether a request leaves the group."""
    if one.api == "ConsumerGroupHeartbeat":
        return bool(one.request["member_epoch"] < 0)
    return one.api == "LeaveGroup"


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
    for (version, protocol), own in group(measured["runs"], "version", "protocol").items():
        parts += [f"## Kafka {version}, {protocol} protocol", table_of(own, COLUMNS), _follows(own)]
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
    longer = [one for one in runs if one["seconds"] <= one["interval"]]
    given_up = [one["gives_up_ms"] for one in longer]
    behind = sum(each is not None and each >= -NEAR for each in given_up)
    given = [one for one in runs if one["seconds"] > one["interval"]]
    sooner = sum((one["waited_ms"] or 1e9) < one["seconds"] * 1000 for one in given)
    said = f"In {behind} of {len(longer)} runs m gave up nothing before its work was over"
    said += f" ({NEAR} ms are allowed for two clocks)."
    if given:
        said += (
            f" Where the work took longer than max.poll.interval.ms, the newcomer got records before its "
            f"end in {sooner} of {len(given)} runs, and the member left the group by itself in "
            f"{sum(one['leaves'] > 0 for one in given)}."
        )
    return said


def plots(measured: Measured) -> dict[str, str]:
    """Plot the newcomer's wait against the member's work, below max.poll.interval.ms."""
    series: dict[str, list[tuple[float, float]]] = {}
    for one in measured["runs"]:
        if one["waited_ms"] is not None and one["seconds"] <= one["interval"]:
            name = f"{one['version']} {one['protocol']}"
            series.setdefault(name, []).append((one["seconds"], one["waited_ms"]))
    title = "What a newcomer waits for its first record"
    return {"waits": lines(title, "work between two polls (s)", "ms", series)} if series else {}


VERSIONS: Final = tuple(dict.fromkeys(version for version, _ in CASES))
EXPERIMENT: Final = Experiment(QUESTION, VERSIONS, run, write, plots)
