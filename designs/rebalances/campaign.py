"""A campaign: all arms of some versions, in batches of groups that run at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple

from barnabas.designs.rebalances import arms, report
from barnabas.designs.rebalances.arms import ARMS, Arm, Protocol
from barnabas.designs.rebalances.bed import Bed
from barnabas.designs.rebalances.figures import Run, figures_of
from barnabas.designs.rebalances.run_diagram import arrows
from barnabas.designs.results.diagram import Arrow
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.peers.apache.client import JavaError

AT_ONCE: Final = 25
"""Groups at a time."""
DRAWN: Final = ("same connection", "other connection", "listener, other, awaited")
"""Arms of which a run is drawn: the first one in which the commit was overtaken."""


class Case(NamedTuple):
    """A version of brokers and clients, the runs of each arm, and the names of the arms (empty: all)."""

    version: str
    protocol: Protocol
    runs: int
    only: tuple[str, ...] = ()

    @property
    def arms(self) -> list[Arm]:
        """The arms that fit the version and the protocol."""
        return [
            arm
            for arm in ARMS
            if arm.fits(self.version, self.protocol) and (not self.only or arm.name in self.only)
        ]

    @property
    def batches(self) -> Iterator[tuple[Arm, int]]:
        """Each arm and a number of groups at once, until the arm has enough runs."""
        for arm in self.arms:
            for begin in range(0, self.runs, AT_ONCE):
                yield arm, min(AT_ONCE, self.runs - begin)


def campaign(bench: Bench, cases: tuple[Case, ...]) -> Measured:
    """Run all arms of all cases: return `runs` with their figures, `drawn` arrows, `failed` batches.

    Ctrl-C ends the campaign; the result has the runs until then.
    """
    total = sum(len(case.arms) * case.runs for case in cases)
    runs: list[dict[str, Any]] = []
    drawn: dict[str, list[Arrow]] = {}
    failed: list[list[Any]] = []
    with suppress(KeyboardInterrupt):
        for case in cases:
            with Bed(case.version, bench) as bed:
                for arm, count in case.batches:
                    labels = {"version": case.version, "protocol": case.protocol, "arm": arm.name}
                    title = " ".join(labels.values())
                    bench.step(len(runs), total, title)
                    try:
                        batch_runs = _batch(bed, case, arm, count)
                    except JavaError as problem:
                        failed.append([*labels.values(), count, str(problem)])
                        continue
                    judged_runs = [(each, figures_of(each, arm.by)) for each in batch_runs]
                    session = arms.session(arm, case.version, case.protocol)
                    runs += [
                        {**labels, "session": session, **figures} for _, figures in judged_runs
                    ]
                    _draw(drawn, title, arm, judged_runs)
    how = {"cases": cases, "each": arms.EACH, "awaited": arms.AWAITED, "at_once": AT_ONCE}
    return {"how": how, "runs": runs, "drawn": drawn, "failed": failed}


def _batch(bed: Bed, case: Case, arm: Arm, count: int) -> list[Run]:
    names = bed.names(count)
    groups = arms.groups(arm, names, case.version, case.protocol)
    scenario = arms.scenario(arm, case.version, case.protocol) if arm.proxied else None
    return bed.run(groups, f"{case.version}-{case.protocol}-{names[0]}", scenario, arm.client)


def _draw(
    drawn: dict[str, list[Arrow]],
    title: str,
    arm: Arm,
    judged_runs: list[tuple[Run, dict[str, Any]]],
) -> None:
    if arm.name in DRAWN and title not in drawn:
        for run, figures in judged_runs:
            if figures["overtaken"]:
                drawn[title] = arrows(run, arm.by)
                break


def commits(question: str, cases: tuple[Case, ...], short: tuple[Case, ...]) -> Experiment:
    """Return an experiment with these cases. short: the cases of a smoke test."""
    versions = tuple(case.version for case in cases)

    def run(bench: Bench) -> Measured:
        return campaign(bench, short if bench.short else cases)

    return Experiment(question, versions, run, report.write, report.plots)
