"""`python -m tests.compat.kgo`: the suite on both sides; 0 if all is the same and can be read, else 1."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rich.console import Console

from barnabas.peers.apache import ApacheCluster, BootError, JavaOptions, UnavailableError
from barnabas.peers.clients.errors import UnavailableClientError
from tests.compat.kgo import suite
from tests.compat.kgo.comparison import Through, compared, lines
from tests.compat.kgo.suite import Ended
from tests.compat.processes import proxy

EXAMPLES: Final = """\
examples:
  python -m tests.compat.kgo                             all of it: about fifteen minutes
  python -m tests.compat.kgo --only 'TestGroup|TestPing'
  python -m tests.compat.kgo --keep kept                 the events of go test and the captures stay there
"""

CANNOT: Final = 3

KAFKA: Final = "4.3.1"

NODES: Final = 3

HEAP: Final = ("-Xmx384m",)
"""Share groups and hundreds of partitions need more than other tests give a broker."""


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.compat.kgo",
        description="franz-go's own test suite, pkg/kgo, directly and through the proxy.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default=".", metavar="REGEXP", help="as go test -run takes it")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep events and captures there"
    )
    asked = parser.parse_args()

    progress = Console(stderr=True, highlight=False)

    def say(line: str) -> None:
        progress.print(line, markup=False, soft_wrap=True)

    with tempfile.TemporaryDirectory(prefix="barnabas-kgo-") as temporary:
        kept = asked.keep or Path(temporary)
        kept.mkdir(parents=True, exist_ok=True)
        try:
            say(f"building the tests of {suite.MODULE} {suite.VERSION}")
            with suite.module() as folder:
                sides = Sides(folder, kept)
                found = compared(sides.direct, sides.through, asked.only, say)
        except (UnavailableClientError, BootError, UnavailableError) as problem:
            say(str(problem))
            return CANNOT
    for line in lines(found):
        print(line)
    return 0 if found.fine else 1


@dataclass(slots=True)
class Sides:
    """A cluster of its own for each run, so that none finds what another left there."""

    folder: Path
    kept: Path
    runs: Counter[str] = field(default_factory=Counter)

    def direct(self, only: str) -> Ended:
        """The tests against the brokers."""
        with self._cluster() as cluster:
            return self._execute(only, cluster.bootstrap, self._place("direct"))

    def through(self, only: str) -> Through:
        """The tests against a proxy before them, that logs and captures all."""
        place = self._place("through")
        with self._cluster() as cluster:
            with proxy(cluster.bootstrap, "json", place.with_suffix(".pcapng")) as running:
                ended = self._execute(only, running.listen, place)
            brokers = {f"{host}:{port}" for host, port in cluster.brokers.values()}
        return Through(ended, running, ended.addresses & brokers)

    def _cluster(self) -> ApacheCluster:
        return ApacheCluster(KAFKA, NODES, java=JavaOptions(HEAP), timeout=120)

    def _place(self, side: str) -> Path:
        """Where the events of a side's next run go: direct-1.jsonl, direct-2.jsonl."""
        self.runs[side] += 1
        return self.kept / f"{side}-{self.runs[side]}.jsonl"

    def _execute(self, only: str, seeds: str, events: Path) -> Ended:
        return suite.execute(self.folder, seeds, events, only=only, replicas=NODES)


if __name__ == "__main__":
    sys.exit(main())
