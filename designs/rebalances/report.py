"""The result of a campaign as Markdown and plots, counted in its runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from barnabas.designs.rebalances.arms import ARMS, MARK
from barnabas.designs.rebalances.run_diagram import PARTICIPANTS
from barnabas.designs.rebalances.sentences import follows
from barnabas.designs.rebalances.totals import (
    Figures,
    complete,
    counted,
    puts_back,
    rows,
    spread_of,
    twice_plots,
)  # fmt: skip
from barnabas.designs.results.columns import Column, share_of, table_of
from barnabas.designs.results.diagram import Arrow, crossing
from barnabas.designs.results.markdown import mermaid
from barnabas.designs.results.plots import dots
from barnabas.designs.results.runs import figures, group
from barnabas.experiments.experiment import Measured

COLUMNS: Final[Mapping[str, str | Column]] = {
    "arm": "arm",
    "overtaken": "order",
    "runs": len,
    "it counts": share_of(lambda run: run["in_log"]),
    "puts back": share_of(puts_back),
    "broker's answer": lambda cell_runs: counted(
        _error_text(run["error"], "none seen") for run in cell_runs
    ),
    "the application is told": lambda cell_runs: counted(
        _error_text(run["told"], "nothing") for run in cell_runs
    ),
    "group's state": lambda cell_runs: counted(run["state"] or "unknown" for run in cell_runs),
    "records read twice": spread_of("twice"),
    "some read twice": share_of(lambda run: run["twice"] > 0),
    "rebalances": spread_of("rebalances"),
    "ghosts": spread_of("ghosts"),
    "stall, ms": spread_of("stall_ms"),
}


def _error_text(error: str | None, nothing: str) -> str:
    return nothing if error is None else error or "no error"


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    parts = [_intro(how, runs), "## Arms"]
    parts += [f"- **{arm.name}**: {arm.description}." for arm in _known(runs)]
    for (version, protocol), group_runs in group(runs, "version", "protocol").items():
        head = f"## Kafka {version}, {protocol} protocol"
        parts += [head, _table(group_runs), _sessions(group_runs), *follows(group_runs)]
    parts += _apart(measured)
    for name, arrows in measured["drawn"].items():
        parts += [f"### A run: {name}", "Times are ms after the commit came to the proxy."]
        parts.append(_drawn(arrows))
    return _joined(parts)


def _intro(how: dict[str, Any], runs: Sequence[Figures]) -> str:
    consumer = (
        " In the consumer protocol the heartbeat in which m gives partitions up takes the place of its "
        "JoinGroup, in all that follows; of the group's state the broker's log does not say anything there."
        if any(run["protocol"] == "consumer" for run in runs)
        else ""
    )
    awaited = (
        f" The third member, of the arms in which one is awaited, takes {how['awaited']:g} s longer."
        if "awaited" in how and any("awaited" in run["arm"] for run in runs)
        else ""
    )
    return (
        f"Member m has both partitions of a topic. It reads {how['each']} records of each and commits "
        f"them, reads {how['each']} more of each, and commits these with commitAsync and the metadata "
        f"`{MARK}`; meanwhile member a has come, and behind the commit m calls poll, which joins the "
        f"rebalance.{consumer}{awaited} The proxy lets the marked commit, and nothing else, be overtaken. "
        "`It counts`: its offsets are in the log of __consumer_offsets (the broker's file is read). "
        "`Puts back`: they are there behind greater ones of the same partition. `Some read twice`: the "
        "share of runs in which records were given to the application more than once, by their ids. "
        "`Ghosts`: members that the broker kept until their session ended. `Stall`: from m's poll to the "
        "next record that any member got. Figures are medians, with the least and the most in brackets; "
        "intervals of shares are Wilson's, 95 %. Runs in which the overtaking did not happen have a row "
        f"of their own. {how['at_once']} groups at most ran at once, on a machine with other work: where "
        "a row has more rebalances or ghosts in some runs than in others, a member lost its session "
        "before."
    )


def _sessions(runs: Sequence[Figures]) -> str:
    """Write how long sessions are, by arm. Results of older versions do not say."""
    arms: dict[float, dict[str, None]] = {}
    for run in runs:
        if "session" not in run:
            return ""
        arms.setdefault(run["session"], {})[run["arm"]] = None
    if len(arms) == 1:
        return f"A session is {next(iter(arms)):g} s."
    sentences = (
        f"{seconds:g} s in {', '.join(f'`{arm}`' for arm in arm_names)}"
        for seconds, arm_names in arms.items()
    )
    return f"A session is {'; '.join(sentences)}."


def _known(runs: Sequence[Figures]) -> list[Any]:
    names = {run["arm"] for run in runs}
    return [arm for arm in ARMS if arm.name in names]


def _table(runs: Sequence[Figures]) -> str:
    table_runs = [{**run, "order": order} for _, order, each in rows(runs) for run in each]
    return table_of(table_runs, COLUMNS)


def _apart(measured: Measured) -> list[str]:
    incomplete = [run for run in measured["runs"] if not complete(run)]
    lines = [
        f"- Kafka {', '.join(arm)}: {len(arm_runs)}"
        for arm, arm_runs in group(incomplete, "version", "protocol", "arm").items()
    ]
    lines += [
        f"- Kafka {' '.join(map(str, run[:3]))}: {run[3]} runs failed together"
        for run in measured["failed"]
    ]
    if not lines:
        return []
    reason = "Not in the tables: runs that did not come to their rebalance, or in which not all was read."
    return ["## Left out", reason, "\n".join(lines)]


def _drawn(arrows: Iterable[Sequence[Any]]) -> str:
    # at the same time, passing requests precede those that waited for them
    ordered = sorted(
        (Arrow(*arrow) for arrow in arrows), key=lambda arrow: (arrow.at, arrow.source == "proxy")
    )
    there = {name for arrow in ordered for name in (arrow.source, arrow.target)}
    return mermaid(crossing(ordered, [name for name in PARTICIPANTS if name in there]))


def _joined(parts: Sequence[str]) -> str:
    """Join paragraphs, and the items of a list."""
    text = ""
    for part in filter(None, parts):
        gap = (
            "\n" if part.startswith("- ") and text.rpartition("\n")[2].startswith("- ") else "\n\n"
        )
        text += (gap if text else "") + part
    return text + "\n"


def plots(measured: Measured) -> dict[str, str]:
    """Plot what was read twice, and how long nothing was read, by arm, version and protocol."""
    plots_by_name: dict[str, str] = {}
    runs = [run for run in measured["runs"] if complete(run)]
    for (version, protocol), group_runs in group(runs, "version", "protocol").items():
        title = f"Nothing was read for: Kafka {version}, {protocol}"
        arms = {arm: figures(each, "stall_ms") for (arm,), each in group(group_runs, "arm").items()}
        plots_by_name |= twice_plots(group_runs, "Records read twice", "arm")
        plots_by_name[f"stall-{version}-{protocol}"] = dots(title, "ms", arms)
    return plots_by_name
