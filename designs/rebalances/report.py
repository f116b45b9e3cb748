"""The result of a campaign as Markdown and plots, counted in its runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from barnabas.designs.rebalances.arms import ARMS, MARK
from barnabas.designs.rebalances.counting import (
    Figures,
    complete,
    counted,
    puts_back,
    rows,
    spread_of,
    twice_plots,
)  # fmt: skip
from barnabas.designs.rebalances.run_diagram import PARTICIPANTS
from barnabas.designs.rebalances.sentences import follows
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
    "it counts": share_of(lambda one: one["in_log"]),
    "puts back": share_of(puts_back),
    "broker's answer": lambda own: counted(_said(one["error"], "none seen") for one in own),
    "the application is told": lambda own: counted(_said(one["told"], "nothing") for one in own),
    "group's state": lambda own: counted(one["state"] or "unknown" for one in own),
    "records read twice": spread_of("twice"),
    "some read twice": share_of(lambda one: one["twice"] > 0),
    "rebalances": spread_of("rebalances"),
    "ghosts": spread_of("ghosts"),
    "stall, ms": spread_of("stall_ms"),
}


def _said(error: str | None, nothing: str) -> str:
    return nothing if error is None else error or "no error"


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    parts = [_intro(how, runs), "## Arms"]
    parts += [f"- **{arm.name}**: {arm.about}." for arm in _known(runs)]
    for (version, protocol), own in group(runs, "version", "protocol").items():
        head = f"## Kafka {version}, {protocol} protocol"
        parts += [head, _table(own), _sessions(own), *follows(own)]
    parts += _apart(measured)
    for name, arrows in measured["drawn"].items():
        parts += [f"### A run: {name}", "Times are ms after the commit came to the proxy."]
        parts.append(_drawn(arrows))
    return _joined(parts)


def _intro(how: dict[str, Any], runs: Sequence[Figures]) -> str:
    consumer = (
        " In the consumer protocol the heartbeat in which m gives partitions up takes the place of its "
        "JoinGroup, in all that follows; of the group's state the broker's log does not say anything there."
        if any(one["protocol"] == "consumer" for one in runs)
        else ""
    )
    awaited = (
        f" The third member, of the arms in which one is awaited, takes {how['awaited']:g} s longer."
        if "awaited" in how and any("awaited" in one["arm"] for one in runs)
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
    for one in runs:
        if "session" not in one:
            return ""
        arms.setdefault(one["session"], {})[one["arm"]] = None
    if len(arms) == 1:
        return f"A session is {next(iter(arms)):g} s."
    said = (
        f"{seconds:g} s in {', '.join(f'`{arm}`' for arm in own)}" for seconds, own in arms.items()
    )
    return f"A session is {'; '.join(said)}."


def _known(runs: Sequence[Figures]) -> list[Any]:
    names = {one["arm"] for one in runs}
    return [arm for arm in ARMS if arm.name in names]


def _table(runs: Sequence[Figures]) -> str:
    own = [{**one, "order": order} for _, order, each in rows(runs) for one in each]
    return table_of(own, COLUMNS)


def _apart(measured: Measured) -> list[str]:
    left = [one for one in measured["runs"] if not complete(one)]
    lines = [
        f"- Kafka {', '.join(arm)}: {len(own)}"
        for arm, own in group(left, "version", "protocol", "arm").items()
    ]
    lines += [
        f"- Kafka {' '.join(map(str, one[:3]))}: {one[3]} runs failed together"
        for one in measured["failed"]
    ]
    if not lines:
        return []
    why = "Not in the tables: runs that did not come to their rebalance, or in which not all was read."
    return ["## Left out", why, "\n".join(lines)]


def _drawn(arrows: Iterable[Sequence[Any]]) -> str:
    # what the proxy let pass at a time left before what waited for that
    found = sorted((Arrow(*one) for one in arrows), key=lambda one: (one.at, one.source == "proxy"))
    there = {name for one in found for name in (one.source, one.target)}
    return mermaid(crossing(found, [name for name in PARTICIPANTS if name in there]))


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
    made: dict[str, str] = {}
    runs = [one for one in measured["runs"] if complete(one)]
    for (version, protocol), own in group(runs, "version", "protocol").items():
        title = f"Nothing was read for: Kafka {version}, {protocol}"
        arms = {arm: figures(each, "stall_ms") for (arm,), each in group(own, "arm").items()}
        made |= twice_plots(own, "Records read twice", "arm")
        made[f"stall-{version}-{protocol}"] = dots(title, "ms", arms)
    return made
