"""The plots of a campaign."""

from __future__ import annotations

from barnabas.designs.rebalances.counting import complete, twice_plots
from barnabas.experiments.experiment import Measured
from barnabas.experiments.plots import dots
from barnabas.experiments.runs import figures, group


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
