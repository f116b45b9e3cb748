"""The result of a campaign as Markdown: everything in it is counted in the runs."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from experiments.diagram import Arrow, crossing
from experiments.experiment import Measured
from experiments.intervals import share
from experiments.rebalances.arms import ARMS, MARK
from experiments.rebalances.drawing import PARTICIPANTS

Figures = dict[str, Any]
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
        parts += [head, _table(own), _sessions(own), *_follows(own)]
    parts += _apart(measured)
    for name, arrows in measured["drawn"].items():
        parts += [
            f"### A run: {name}",
            "Times are ms after the commit came to the proxy.",
            _drawn(arrows),
        ]
    return _joined(parts)


def complete(one: Figures) -> bool:
    """Whether a run came to its rebalance, and everything was read."""
    stuck = any("TimeoutError" in death for death in one["died"])
    return one["stall_ms"] is not None and not one["never"] and not stuck


def puts_back(one: Figures) -> bool:
    """Whether the marked commit, or its repetition, is in the log behind a greater offset.

    >>> puts_back({"kept": "0@30 revoked, 1@20 async-17, 0@20 async-17"}), puts_back({"kept": ""})
    (True, False)
    """
    greatest: dict[str, int] = {}
    for offset in filter(None, one["kept"].split(", ")):
        place, mark = offset.split(" ", 1)
        partition, _, at = place.partition("@")
        before, greatest[partition] = greatest.get(partition, -1), int(at)
        if mark in (MARK, "again") and int(at) < before:
            return True
    return False


def overtaken(one: Figures) -> str:
    """In which order the two arrived: yes, no, or that none was sent behind the commit."""
    return "yes" if one["overtaken"] else "no" if one["exit"] or one["broker"] else "no join"


def rows(runs: Iterable[Figures]) -> list[tuple[str, str, list[Figures]]]:
    """Runs that are complete, by arm and by whether the overtaking happened."""
    found = [one for one in runs if complete(one)]
    return [
        (arm.name, order, own)
        for arm in ARMS
        for order in ("yes", "no", "no join")
        if (own := [o for o in found if (o["arm"], overtaken(o)) == (arm.name, order)])
    ]


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


def counted(values: Iterable[str]) -> str:
    """Different values and how often each was there.

    >>> counted(["a", "b", "b"])
    'b 2, a 1'
    """
    return ", ".join(f"{value} {count}" for value, count in Counter(values).most_common())


def spread(values: Iterable[float]) -> str:
    """The median, and the least and the most if they differ.

    >>> spread([1, 1]), spread([1, 5, 3])
    ('1', '3 (1-5)')
    """
    found = sorted(values)
    middle = f"{statistics.median(found):g}"
    return middle if found[0] == found[-1] else f"{middle} ({found[0]:g}-{found[-1]:g})"


def _follows(runs: Sequence[Figures]) -> list[str]:
    """What the figures of one version say, in words."""
    by = {(name, order): own for name, order, own in rows(runs)}
    said = [line for line in (_overtaken(by), _elsewhere(by), _listener(by), _others(by)) if line]
    agreed = [one for one in runs if one["read_from"]]
    same = sum(one["read_from"] == one["log_had"] for one in agreed)
    fetches = [
        one["first_fetch"][p] == one["read_from"].get(p)
        for one in agreed
        for p in one["first_fetch"]
    ]
    lines = [f"- {line}" for line in said]
    if agreed:
        lines.append(
            f"- The new owner was answered by OffsetFetch what the log of __consumer_offsets had at that "
            f"time in {same} of {len(agreed)} runs; its first Fetch of a partition began there in "
            f"{sum(fetches)} of {len(fetches)} cases."
        )
    return ["\n".join(lines)] if lines else []


By = dict[tuple[str, str], list[Figures]]


def _counts(own: Sequence[Figures]) -> str:
    twice = sum(one["twice"] > 0 for one in own)
    return (
        f"it counted in {share(sum(one['in_log'] for one in own), len(own))}; records were read twice "
        f"in {share(twice, len(own))}, {spread(one['twice'] for one in own)} of them"
    )


def _puts_back(own: Sequence[Figures]) -> str:
    hits = share(sum(map(puts_back, own)), len(own))
    return f"it put a newer offset back in {hits}; {_counts(own)}"


def _overtaken(by: By) -> str:
    own = by.get(("same connection", "yes"))
    base = [
        one for name in ("no proxy", "proxy without a rule") for one in by.get((name, "no"), [])
    ]
    if not own:
        return ""
    without = ""
    if base:
        twice = sum(one["twice"] > 0 for one in base)
        without = (
            f" Where nothing overtook it (no proxy, or one without a rule), records were read twice in "
            f"{share(twice, len(base))}, and the stall was {spread(one['stall_ms'] for one in base)} ms."
        )
    return (
        f"A commit that was overtaken on its own connection: {_counts(own)}. The broker answered "
        f"{counted(one['error'] or 'no error' for one in own)}, the application was told "
        f"{counted(one['told'] or 'nothing' for one in own)}. Delivery stood still for "
        f"{spread(one['stall_ms'] for one in own)} ms, with "
        f"{spread(one['ghosts'] for one in own)} ghosts.{without}"
    )


def _elsewhere(by: By) -> str:
    said = [
        f"{words}: {_counts(own)}"
        for name, words in (
            ("other connection", "behind the rebalance"),
            ("other, a third awaited", "while the group waited for a third member"),
            ("the other member's join", "behind the other member's JoinGroup, before m's own"),
        )
        if (own := by.get((name, "yes")))
    ]
    return f"Over another connection, or behind another member: {'; '.join(said)}." if said else ""


def _listener(by: By) -> str:
    said = []
    for order in ("yes", "no"):
        own = by.get(("listener, same connection", order))
        if own:
            what = "was" if order == "yes" else "was not"
            said.append(
                f"on the same connection JoinGroup {what} first in {len(own)} runs: {_counts(own)}"
            )
    for name in ("listener, other connection", "listener, other, awaited"):
        own = by.get((name, "yes"))
        if own:
            said.append(f"{name.removeprefix('listener, ')}, overtaken: {_puts_back(own)}")
    return f"With commitSync in onPartitionsRevoked: {'; '.join(said)}." if said else ""


def _others(by: By) -> str:
    said = []
    if own := by.get(("retry in the callback", "yes")):
        said.append(f"A retry that came behind a newer commit: {_puts_back(own)}.")
    if own := [o for order in ("yes", "no") for o in by.get(("client of 0.10.0.1", order), [])]:
        hits = sum(one["overtaken"] for one in own)
        said.append(
            f"The client of 0.10.0.1 was overtaken in {share(hits, len(own))}: {_counts(own)}."
        )
    if own := by.get(("same, answers not put back", "yes")):
        early = by.get(("same, answers not put back", "no join"), [])
        before = (
            f"; in {len(early)} more it ended before it joined ({_deaths(early)}): what else the client had "
            "asked behind the commit was answered first"
            if early
            else ""
        )
        said.append(
            f"Where the answers were not put back into the client's order, in {len(own)} runs m's poll ended "
            f"with {_deaths(own)}{before}."
        )
    return " ".join(said)


def _deaths(runs: Sequence[Figures]) -> str:
    """With which exceptions members ended."""
    found = counted(death[2] for one in runs for death in one["died"] if death[1] == "died")
    return found or "no exception"


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
