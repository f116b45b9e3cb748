"""`python -m tests.rediscover_behaviour`: run the pairs, a row for each; 0 if all were told apart, else 1."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from barnabas.experiments.clients.brokers import NEWEST, Brokers
from barnabas.experiments.clients.cell import TRIALS
from barnabas.experiments.clients.folder import Folder
from barnabas.experiments.clients.matrix import Matrix, TableRequest
from barnabas.experiments.clients.workloads import find as find_workload
from barnabas.experiments.library import find as find_scenario
from barnabas.peers.clients.registry import find as find_client
from barnabas.proxy.scenario.file import load
from barnabas.stop_signals import interruptible
from tests.rediscover_behaviour.pairs import PAIRS, Pair, groups
from tests.rediscover_behaviour.scoring import HEADER, Score, score

EXAMPLES = """\
examples:
  python -m tests.rediscover_behaviour                       all of them
  python -m tests.rediscover_behaviour KAFKA-14417           one
  python -m tests.rediscover_behaviour --out table           keep the evidence, for barnabas clients show
"""


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.rediscover_behaviour",
        description="Releases of clients with known faults, and those that mended them.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("pairs", nargs="*", help="sources of pairs; all of them if none is given")
    parser.add_argument("--trials", type=int, default=TRIALS, help=f"of each cell ({TRIALS})")
    parser.add_argument("--broker", default=NEWEST, help=f"as barnabas clients has it ({NEWEST})")
    parser.add_argument("--out", type=Path, help="keep the evidence there")
    asked = parser.parse_args()
    sources = [pair.source for pair in PAIRS]
    unknown = [source for source in asked.pairs if source not in sources]
    if unknown:
        parser.error(f"there is no pair {unknown[0]}; there are: {', '.join(sources)}")
    wanted = tuple(pair for pair in PAIRS if not asked.pairs or pair.source in asked.pairs)

    print("\n".join(HEADER))
    scores: list[Score] = []
    with tempfile.TemporaryDirectory(prefix="barnabas-rediscover-") as temporary:
        for one in run(wanted, asked.broker, asked.trials, asked.out or Path(temporary)):
            scores.append(one)
            print(one.row, flush=True)
    print(f"\n{sum(one.apart for one in scores)} of {len(scores)} told apart.")
    return 0 if all(one.apart for one in scores) else 1


def run(pairs: tuple[Pair, ...], broker: str, trials: int, out: Path) -> Iterator[Score]:
    """The scores, as they are known. Raises FolderError, OSError."""
    folder = Folder(out)
    try:
        with interruptible(), Brokers(broker) as brokers:
            for (workload, scenario), several in groups(pairs).items():
                names = dict.fromkeys(name for pair in several for name in (pair.old, pair.fixed))
                clients = [(name, find_client(name).prepare) for name in names]
                named = scenario, load(find_scenario(Path(scenario)))
                asked = TableRequest(clients, [find_workload(workload)], [named], trials)
                cells = {cell.name: cell for cell in Matrix(asked, brokers, folder).run()}
                for pair in several:
                    yield score(pair, cells)
    finally:
        folder.close()


if __name__ == "__main__":
    sys.exit(main())
