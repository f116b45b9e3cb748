"""Records that a group reads twice after a rebalance, with autoCommit, commitSync and commitAsync.

It uses brokers of 2017 and of today, and belongs to document 003, whose three ways of committing it compares.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any, Final

from barnabas.designs.rebalances import arms
from barnabas.designs.rebalances.arms import CASES
from barnabas.designs.rebalances.bed import Bed
from barnabas.designs.rebalances.figures import figures_of
from barnabas.designs.rebalances.totals import spread_of, twice_plots
from barnabas.designs.results.columns import Column, share_of, table_of
from barnabas.designs.results.markdown import bullets, paragraphs
from barnabas.designs.results.runs import Run, group
from barnabas.experiments.experiment import QUIET, Bench, Experiment, Measured

QUESTION: Final = (
    "What does a group consume twice after a rebalance: with autoCommit, commitSync, commitAsync?"
)
RUNS: Final = 10
WAYS: Final = ("autoCommit", "commitSync", "commitAsync", "nothing is committed")
NETWORKS: Final = {
    "quick": QUIET,
    "commits 500 ms late": """
version: 1
rules: [{name: late, match: {api: OffsetCommit, direction: request}, do: {delay: 500ms}}]
""",
}
_HOW: Final = {"commitSync": "sync", "commitAsync": "async"}


def run(bench: Bench) -> Measured:
    """Run all ways of committing at once, with several groups of each."""
    cases, count = (CASES[:1], 2) if bench.short else (CASES, RUNS)
    runs: list[Run] = []
    step = bench.counter(len(cases) * len(NETWORKS))
    with suppress(KeyboardInterrupt):  # the measurements until then are the result
        for version, protocol in cases:
            with Bed(version, bench) as bed:
                for network, scenario in NETWORKS.items():
                    step(f"{version} {protocol}, {network}")
                    modes = {name: mode for mode in WAYS for name in bed.names(count)}
                    groups = {name: _members(name, mode, protocol) for name, mode in modes.items()}
                    arm = {"version": version, "protocol": protocol, "network": network}
                    for each_run in bed.run(groups, f"{version}-{protocol}-{network}", scenario):
                        figures = figures_of(each_run, "m")
                        selected = {
                            key: figures[key] for key in ("twice", "never", "stall_ms", "died")
                        }
                        runs.append({**arm, "way": modes[each_run.group], **selected})
    return {"how": {"each": arms.EACH}, "runs": runs}


def _members(name: str, mode: str, protocol: arms.Protocol) -> list[dict[str, Any]]:
    how = _HOW.get(mode, "")
    commit = [("commit", how, "last")] if how else []
    steps = (("say", "come"), ("work", arms.WORK), *commit)
    members = arms.two_members(name, protocol, *steps, how=how)
    if mode == "autoCommit":
        members[0]["settings"] |= {"enable.auto.commit": "true", "auto.commit.interval.ms": "60000"}
    return members


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    runs = measured["runs"]
    beds = Counter((run["version"], run["protocol"], run["network"]) for run in runs)
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
    twice = share_of(lambda run: run["twice"] > 0)
    columns: dict[str, str | Column] = {
        "way": "way",
        "network": "network",
        "runs": len,
        "some read twice": twice,
        "records read twice": spread_of("twice"),
        "stall, ms": spread_of("stall_ms"),
    }
    for (version, protocol), group_runs in group(_complete(runs), "version", "protocol").items():
        sentences = (
            f"{mode}: records were read twice in {twice(each)} runs over both networks."
            for (mode,), each in group(group_runs, "way").items()
        )
        head = f"## Kafka {version}, {protocol} protocol"
        parts += [head, table_of(group_runs, columns), bullets(sentences)]
    incomplete = len(runs) - len(_complete(runs))
    return paragraphs(
        *parts,
        f"Left out: {incomplete} runs in which not all was read, or m was not given partitions again.",
    )


def plots(measured: Measured) -> dict[str, str]:
    """Plot the records read twice, by way and network, in the complete runs."""
    runs = (
        {**run, "network": run["network"].removeprefix("commits ")}
        for run in _complete(measured["runs"])
    )
    return twice_plots(runs, "Records read twice", "way", "network")


def _complete(runs: list[Run]) -> list[Run]:
    """Return the complete runs, by way."""
    complete_runs = (
        o for o in runs if o["stall_ms"] is not None and not o["never"] and not o["died"]
    )
    return sorted(complete_runs, key=lambda run: WAYS.index(run["way"]))


VERSIONS: Final = tuple(dict.fromkeys(version for version, _ in CASES))
EXPERIMENT: Final = Experiment(QUESTION, VERSIONS, run, write, plots)
