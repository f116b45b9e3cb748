"""What a rebalance makes a group read twice, with autoCommit, commitSync and commitAsync."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any, Final

from barnabas.designs.rebalances import arms
from barnabas.designs.rebalances.counting import spread
from barnabas.designs.rebalances.judging import judged
from barnabas.designs.rebalances.running import Bed
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.experiments.intervals import share
from barnabas.experiments.plots import dots

CASES: Final[tuple[tuple[str, arms.Protocol], ...]] = (
    ("0.11.0.1", "classic"),
    ("4.3.1", "classic"),
    ("4.3.1", "consumer"),
)
RUNS: Final = 10
WAYS: Final = ("autoCommit", "commitSync", "commitAsync", "nothing is committed")
NETWORKS: Final = {
    "quick": "version: 1\nrules: []\n",
    "commits 500 ms late": """
version: 1
rules: [{name: late, match: {api: OffsetCommit, direction: request}, do: {delay: 500ms}}]
""",
}
_HOW: Final = {"commitSync": "sync", "commitAsync": "async"}


def run(bench: Bench) -> Measured:
    """All ways at once, so many groups of each."""
    cases, count = (CASES[:1], 2) if bench.short else (CASES, RUNS)
    found: list[dict[str, Any]] = []
    total = len(cases) * len(NETWORKS)
    with suppress(KeyboardInterrupt):  # what was measured until then is the result
        for version, protocol in cases:
            with Bed(version, bench.proxy) as bed:
                for number, (network, scenario) in enumerate(NETWORKS.items()):
                    done = cases.index((version, protocol)) * len(NETWORKS) + number
                    bench.step(done, total, f"{version} {protocol}, {network}")
                    groups, ways = {}, {}
                    for way in WAYS:
                        for name in bed.names(count):
                            groups[name], ways[name] = _members(name, way, protocol), way
                    about = {"version": version, "protocol": protocol, "network": network}
                    folder = bench.folder / f"{version}-{protocol}-{number}"
                    for one in bed.run(groups, folder, scenario):
                        figures = judged(one, "m")
                        kept = {key: figures[key] for key in ("twice", "never", "stall_ms", "died")}
                        found.append({**about, "way": ways[one.group], **kept})
    return {"how": {"each": arms.EACH}, "runs": found}


def _members(name: str, way: str, protocol: arms.Protocol) -> list[dict[str, Any]]:
    how = _HOW.get(way, "")
    commit: list[arms.Step] = [("commit", how, "last")] if how else []
    steps: dict[str, list[arms.Step]] = {
        "m": [
            ("settle", 2),
            ("read", arms.EACH),
            ("say", "come"),
            ("work", arms.WORK),
            *commit,
            ("rejoin",),
            ("finish", arms.FINISH, how),
        ],
        "a": [("hear", "come"), ("finish", arms.FINISH, "sync")],
    }
    members = arms.groups(arms.Arm("", "", steps), [name], "", protocol)[name]
    if way == "autoCommit":
        members[0]["settings"] |= {"enable.auto.commit": "true", "auto.commit.interval.ms": "60000"}
    return members


def write(measured: Measured) -> str:
    """The result as Markdown."""
    runs = measured["runs"]
    beds = Counter((one["version"], one["protocol"], one["network"]) for one in runs)
    at_once = max(beds.values(), default=0)
    parts = [
        f"Member m has read {measured['how']['each']} records of each of two partitions when a second "
        "member comes. It commits them its way and calls poll, which rebalances; with autoCommit (every "
        "60 s, so never by the clock) it only calls poll. `Some read twice`: runs in which the "
        "application was given records more than once; the intervals are Wilson's, 95 %. Figures are "
        "medians, with the least and the most in brackets. `Late`: the proxy delays every OffsetCommit "
        "request, and what is behind it on the connection, so their order stays. `Stall`: from m's poll to "
        "the next record that any member got; it is not that of a group alone: all ways were at work at "
        f"once, {at_once} groups with two members each, the first ones in a new JVM."
    ]
    for version, protocol in dict.fromkeys((one["version"], one["protocol"]) for one in runs):
        rows = [
            f"## Kafka {version}, {protocol} protocol\n",
            "| way | network | runs | some read twice | records read twice | stall, ms |",
            "|---|---|---|---|---|---|",
        ]
        for way in WAYS:
            for network in NETWORKS:
                wanted = (version, protocol, way, network)
                own = _own(runs, *wanted)
                if own:
                    hits = share(sum(one["twice"] > 0 for one in own), len(own))
                    rows.append(
                        f"| {way} | {network} | {len(own)} | {hits} | "
                        f"{spread(one['twice'] for one in own)} | {spread(one['stall_ms'] for one in own)} |"
                    )
        parts += ["\n".join(rows), _follows(runs, version, protocol)]
    left = sum(not complete(one) for one in runs)
    parts.append(
        f"Left out: {left} runs in which not all was read, or m was not given partitions again."
    )
    return "\n\n".join(parts) + "\n"


def _own(
    runs: list[dict[str, Any]], version: str, protocol: str, way: str, network: str
) -> list[dict[str, Any]]:
    wanted = (version, protocol, way, network)
    names = ("version", "protocol", "way", "network")
    return [one for one in runs if tuple(one[name] for name in names) == wanted and complete(one)]


def _follows(runs: list[dict[str, Any]], version: str, protocol: str) -> str:
    """What was read twice, by way, over both networks."""
    said = []
    for way in WAYS:
        own = [one for network in NETWORKS for one in _own(runs, version, protocol, way, network)]
        if own:
            hits = share(sum(one["twice"] > 0 for one in own), len(own))
            said.append(f"- {way}: records were read twice in {hits} runs over both networks.")
    return "\n".join(said)


def plots(measured: Measured) -> dict[str, str]:
    """What was read twice, by way and network; of runs that came to their end."""
    runs, found = measured["runs"], {}
    for version, protocol in dict.fromkeys((one["version"], one["protocol"]) for one in runs):
        groups = {
            f"{way}, {network.removeprefix('commits ')}": [one["twice"] for one in own]
            for way in WAYS
            for network in NETWORKS
            if (own := _own(runs, version, protocol, way, network))
        }
        if groups:
            title = f"Records read twice: Kafka {version}, {protocol}"
            found[f"twice-{version}-{protocol}"] = dots(title, "records", groups)
    return found


def complete(one: dict[str, Any]) -> bool:
    """Whether a run came to its end."""
    return one["stall_ms"] is not None and not one["never"] and not one["died"]


EXPERIMENT: Final = Experiment(
    "What does a group consume twice after a rebalance: with autoCommit, commitSync, commitAsync?",
    tuple(dict.fromkeys(version for version, _ in CASES)),
    run,
    write,
    plots,
)
