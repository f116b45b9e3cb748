"""When a rebalance happens: JoinGroup comes from poll only, so a newcomer waits for the slowest member."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.experiments.plots import lines
from barnabas.experiments.rebalances import arms
from barnabas.experiments.rebalances.counting import spread
from barnabas.experiments.rebalances.judging import Run
from barnabas.experiments.rebalances.running import Bed

CASES: Final[tuple[tuple[str, arms.Protocol], ...]] = (
    ("0.11.0.1", "classic"),
    ("4.3.1", "classic"),
    ("4.3.1", "consumer"),
)
RUNS: Final = 8
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
    """How long the newcomer waited for its first record (ms), and what `m` sent while it worked."""
    times = {
        (letter, what): next((seen[0] for seen in member if seen[1] == what), None)
        for letter, member in run.members.items()
        for what in ("subscribes", "reads", "works", "worked")
    }
    begin, end = times["m", "works"], times["m", "worked"]
    first, asked = times["a", "reads"], times["a", "subscribes"]
    sent = [
        one.api
        for one in run.passed
        if one.letter == "m" and begin is not None and end is not None and begin < one.came < end
    ]
    waited = None if first is None or asked is None else round((first - asked) * 1000)
    return {
        "waited_ms": waited,
        "joins": sent.count("JoinGroup"),
        "leaves": sent.count("LeaveGroup"),
        "rejoins": sum(one.letter == "m" and one.api == "JoinGroup" for one in run.passed),
    }


def write(measured: Measured) -> str:
    """The result as Markdown."""
    parts = [
        "Member m has both partitions and has read from them; it then works, without a call of poll, and "
        "the newcomer subscribes when that begins. `Waited`: from the newcomer's subscribe to its first "
        "record; median, least and most. `While it worked`: the JoinGroup and LeaveGroup requests that m "
        "sent in that time, in all runs; `in all`: its JoinGroup requests from first to last."
    ]
    runs = measured["runs"]
    for version, protocol in dict.fromkeys((one["version"], one["protocol"]) for one in runs):
        own = [one for one in runs if (one["version"], one["protocol"]) == (version, protocol)]
        parts += [f"## Kafka {version}, {protocol} protocol", _table(own), _follows(own)]
    return "\n\n".join(parts) + "\n"


def _table(runs: list[dict[str, Any]]) -> str:
    rows = [
        "| work, s | max.poll.interval, s | runs | waited, ms | JoinGroup while it worked | LeaveGroup while "
        "it worked | JoinGroup in all |",
        "|---|---|---|---|---|---|---|",
    ]
    for seconds, interval in dict.fromkeys((one["seconds"], one["interval"]) for one in runs):
        own = [one for one in runs if (one["seconds"], one["interval"]) == (seconds, interval)]
        waits = [one["waited_ms"] for one in own if one["waited_ms"] is not None]
        rows.append(
            f"| {seconds:g} | {interval:g} | {len(own)} | {spread(waits) if waits else 'never'} | "
            f"{sum(one['joins'] for one in own)} | {sum(one['leaves'] for one in own)} | "
            f"{sum(one['rejoins'] for one in own)} |"
        )
    return "\n".join(rows)


def _follows(runs: list[dict[str, Any]]) -> str:
    longer = [one for one in runs if one["seconds"] <= one["interval"]]
    waits = [one for one in longer if one["waited_ms"] is not None]
    until = sum(one["waited_ms"] >= one["seconds"] * 1000 for one in waits)
    given = [one for one in runs if one["seconds"] > one["interval"]]
    sooner = sum((one["waited_ms"] or 1e9) < one["seconds"] * 1000 for one in given)
    said = (
        f"In {until} of {len(waits)} runs the newcomer waited at least as long as the work takes (it may "
        "have subscribed a moment after that began); the member sent "
        f"{sum(one['joins'] for one in runs)} JoinGroup requests while it worked."
    )
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
