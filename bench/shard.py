"""One shard of a campaign, a process of its own: `python -m bench.shard TARGET FIRST END`.

Cases are made, run against a target of its own, and judged, as a shard on Spark does. Says `ready` when all
is set up and warm, begins when its stdin says so, and prints cases, seconds, and seconds of the processor.
"""

from __future__ import annotations

import json
import sys
import time

from barnabas.fuzz.corpus.sources import generated
from barnabas.fuzz.engine.assembly import oracles_for
from barnabas.fuzz.engine.case_maker import Maker
from barnabas.fuzz.engine.rounds import run_range
from barnabas.fuzz.targets.registry import target_of
from bench.executing import APIS

_WARM = 2000


def main() -> None:
    """Set up, wait, run."""
    name, first, end = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    maker = Maker("bench", generated("bench", APIS, "request", each=2))
    with target_of(name, owned=False) as target:
        oracles = oracles_for(target.role)
        for _ in run_range(target, maker, oracles, range(_WARM)):
            pass
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        began, used = time.perf_counter(), time.process_time()
        for _ in run_range(target, maker, oracles, range(first, end)):
            pass
        seconds = time.perf_counter() - began, time.process_time() - used
    sys.stdout.write(json.dumps([end - first, *seconds]) + "\n")


if __name__ == "__main__":
    main()
