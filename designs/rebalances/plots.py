"""The plots of a campaign: what was read twice, and how long nothing was read, by arm."""

from __future__ import annotations

from barnabas.designs.rebalances.counting import complete
from barnabas.experiments.experiment import Measured
from barnabas.experiments.plots import dots


def plots(measured: Measured) -> dict[str, str]:
    """Two for each version and protocol; only runs that are complete."""
    found = {}
    runs = [one for one in measured["runs"] if complete(one)]
    for version, protocol in dict.fromkeys((one["version"], one["protocol"]) for one in runs):
        own = [one for one in runs if (one["version"], one["protocol"]) == (version, protocol)]
        arms = dict.fromkeys(one["arm"] for one in own)
        for name, title, unit, figure in (
            ("twice", "Records read twice", "records", "twice"),
            ("stall", "Nothing was read for", "ms", "stall_ms"),
        ):
            groups = {arm: [one[figure] for one in own if one["arm"] == arm] for arm in arms}
            head = f"{title}: Kafka {version}, {protocol}"
            found[f"{name}-{version}-{protocol}"] = dots(head, unit, groups)
    return found
