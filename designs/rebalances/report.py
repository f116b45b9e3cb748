"""The result of a campaign as Markdown: everything in it is counted in the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from barnabas.designs.rebalances.arms import ARMS, MARK
from barnabas.designs.rebalances.counting import Figures, complete, counted, puts_back, rows, spread
from barnabas.designs.rebalances.run_diagram import PARTICIPANTS
from barnabas.designs.rebalances.sentences import follows
from barnabas.experiments.diagram import Arrow, crossing
from barnabas.experiments.experiment import Measured
from barnabas.experiments.intervals import share

HEADS: Final = (
    "arm", "overtaken", "runs", "it counts", "puts back", "broker's answer", "the application is told",
    "group's state", "records read twice", "some read twice", "rebalances", "ghosts", "stall, ms",
)  # fmt: skip


def write(measured: Measured) -> str:
    """The result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    parts = [_intro(how, runs), "## Arms"]
    parts += [f"- **{arm.name}**: {arm.about}." for arm in _known(runs)]
    for version, protocol in dict.fromkeys((one["version"], one["protocol"]) for one in runs):
        own = [one for one in runs if (one["version"], one["protocol"]) == (version, protocol)]
        head = f"## Kafka {version}, {protocol} protocol"
        parts += [head, _table(own), _sessions(own), *follows(own)]
    parts += _apart(measured)
    for name, arrows in measured["drawn"].items():
        parts += [
            f"### A run: {name}",
            "Times are ms after the commit came to the proxy.",
            _drawn(arrows),
        ]
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
    """How long sessions are, the arms of each length together. Results of before do not say."""
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
    lines = ["| " + " | ".join(HEADS) + " |", "|" + "---|" * len(HEADS)]
    for name, order, own in rows(runs):
        cells = (
            name,
            order,
            str(len(own)),
            share(sum(one["in_log"] for one in own), len(own)),
            share(sum(map(puts_back, own)), len(own)),
            counted(
                "none seen" if one["error"] is None else one["error"] or "no error" for one in own
            ),
            counted("nothing" if one["told"] is None else one["told"] or "no error" for one in own),
            counted(one["state"] or "unknown" for one in own),
            spread(one["twice"] for one in own),
            share(sum(one["twice"] > 0 for one in own), len(own)),
            spread(one["rebalances"] for one in own),
            spread(one["ghosts"] for one in own),
            spread(one["stall_ms"] for one in own),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _apart(measured: Measured) -> list[str]:
    left = [one for one in measured["runs"] if not complete(one)]
    lines = [
        f"- Kafka {version}, {protocol}, {arm}: {count}"
        for (version, protocol, arm), count in Counter(
            (one["version"], one["protocol"], one["arm"]) for one in left
        ).items()
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
    return f"```mermaid\n{crossing(found, [name for name in PARTICIPANTS if name in there])}\n```"


def _joined(parts: Sequence[str]) -> str:
    """Paragraphs, with items of a list side by side."""
    text = ""
    for part in filter(None, parts):
        gap = (
            "\n" if part.startswith("- ") and text.rpartition("\n")[2].startswith("- ") else "\n\n"
        )
        text += (gap if text else "") + part
    return text + "\n"
