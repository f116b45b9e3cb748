"""When a rebalance happens: JoinGroup comes from poll only, so a newcomer waits for the slowest member."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from barnabas.designs.rebalances import arms
from barnabas.designs.rebalances.counting import spread
from barnabas.designs.rebalances.judging import Run, gives_up
from barnabas.designs.rebalances.passed import Passed
from barnabas.designs.rebalances.running import Bed
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.experiments.plots import lines

CASES: Final[tuple[tuple[str, arms.Protocol], ...]] = (
    ("0.11.0.1", "classic"),
    ("4.3.1", "classic"),
    ("4.3.1", "consumer"),
)
RUNS: Final = 8
NEAR: Final = 50
"""Milliseconds by which the clocks of a client and of the proxy may differ."""
QUIET: Final = "version: 1\nrules: []\n"


class Work(NamedTuple):
    """seconds: that the member takes for what poll gave. interval: its max.poll.interval.ms, in seconds."""

    seconds: float
    interval: float


WORKS: Final = (Work(0.5, 300), Work(2, 300), Work(4, 300), Work(8, 300), Work(8, 4))
SHORT: Final = (Work(0.5, 300), Work(3, 300))


def run(bench: Bench) -> Measured:
    """All lengths of work at once, so many groups of each."""
    cases = CASES[:1] if bench.short else CASES
    works, count = (SHORT, 2) if bench.short else (WORKS, RUNS)
    found: list[dict[str, Any]] = []
    with suppress(KeyboardInterrupt):  # what was measured until then is the result
        for number, (version, protocol) in enumerate(cases):
            bench.step(number, len(cases), f"{version} {protocol}")
            with Bed(version, bench.proxy) as bed:
                groups, about = {}, {}
                for work in works:
                    for name in bed.names(count):
                        groups[name], about[name] = _members(name, work, protocol), work
                for one in bed.run(groups, bench.folder / f"{version}-{protocol}", QUIET):
                    own = {"version": version, "protocol": protocol, **about[one.group]._asdict()}
                    found.append({**own, **figures(one)})
    return {"runs": found}


def _members(name: str, work: Work, protocol: arms.Protocol) -> list[dict[str, Any]]:
    steps: Mapping[str, list[arms.Step]] = {
        "m": [
            ("settle", 2),
            ("read", arms.EACH),
            ("commit", "sync", "first"),
            ("say", "come"),
            ("work", work.seconds),
            ("rejoin",),
            ("finish", arms.FINISH, "sync"),
        ],
        "a": [("hear", "come"), ("finish", arms.FINISH, "sync")],
    }
    arm = arms.Arm("", "", steps)
    members = arms.groups(arm, [name], "", protocol)[name]
    members[0]["settings"]["max.poll.interval.ms"] = f"{work.interval * 1000:.0f}"
    return members


def figures(run: Run) -> dict[str, Any]:
    """How long the newcomer waited for its first record, and for what (ms); None: it did not come.

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
    """Whether a request leaves the group."""
    if one.api == "ConsumerGroupHeartbeat":
        return bool(one.request["member_epoch"] < 0)
    return one.api == "LeaveGroup"


def _ms(begin: float | None, end: float | None) -> int | None:
    return None if begin is None or end is None else round((end - begin) * 1000)


def write(measured: Measured) -> str:
    """The result as Markdown."""
    parts = [
        "Member m has both partitions and has read from them; it then works, without a call of poll, and "
        "the newcomer subscribes when that begins. `Waited`: from the newcomer's subscribe to its first "
        "record. `m gives up`: from the end of its work to its JoinGroup, or to the ConsumerGroupHeartbeat "
        "with which it gives a partition up (negative: before the end). `Newcomer reads`: from that to the "
        "newcomer's first record. Medians, with the least and the most. `m leaves`: LeaveGroup requests, or "
        "heartbeats of a negative epoch, in that time, in all runs; `JoinGroup`: of m, from first to last."
    ]
    runs = measured["runs"]
    for version, protocol in dict.fromkeys((one["version"], one["protocol"]) for one in runs):
        own = [one for one in runs if (one["version"], one["protocol"]) == (version, protocol)]
        parts += [f"## Kafka {version}, {protocol} protocol", _table(own), _follows(own)]
    return "\n\n".join(parts) + "\n"


def _table(runs: list[dict[str, Any]]) -> str:
    rows = [
        "| work, s | max.poll.interval, s | runs | waited, ms | m gives up, ms after its work | "
        "newcomer reads, ms after that | m leaves | JoinGroup |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for seconds, interval in dict.fromkeys((one["seconds"], one["interval"]) for one in runs):
        own = [one for one in runs if (one["seconds"], one["interval"]) == (seconds, interval)]
        rows.append(
            f"| {seconds:g} | {interval:g} | {len(own)} | {_spread(own, 'waited_ms')} | "
            f"{_spread(own, 'gives_up_ms')} | {_spread(own, 'reads_ms')} | "
            f"{sum(one['leaves'] for one in own)} | {sum(one['joins'] for one in own)} |"
        )
    return "\n".join(rows)


def _spread(runs: list[dict[str, Any]], what: str) -> str:
    found = [one[what] for one in runs if one[what] is not None]
    return spread(found) if found else "never"


def _follows(runs: list[dict[str, Any]]) -> str:
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
    """What the newcomer waited against the member's work; only below max.poll.interval.ms."""
    series: dict[str, list[tuple[float, float]]] = {}
    for one in measured["runs"]:
        if one["waited_ms"] is not None and one["seconds"] <= one["interval"]:
            name = f"{one['version']} {one['protocol']}"
            series.setdefault(name, []).append((one["seconds"], one["waited_ms"]))
    title = "What a newcomer waits for its first record"
    return {"waits": lines(title, "work between two polls (s)", "ms", series)} if series else {}


EXPERIMENT: Final = Experiment(
    "When does a rebalance happen, and why does delivery stop until the slowest member polls?",
    tuple(dict.fromkeys(version for version, _ in CASES)),
    run,
    write,
    plots,
)
