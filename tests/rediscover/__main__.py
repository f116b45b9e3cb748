"""`python -m tests.rediscover`: run the campaigns and print what they found; 0 if it was all, else 1."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from barnabas.fuzz.errors import CannotRun
from barnabas.trouble import Trouble
from tests.rediscover.pairs import ALL, USUAL, groups
from tests.rediscover.scoring import CASES, SECONDS, Score, score

EXAMPLES = """\
examples:
  python -m tests.rediscover                         all that are found
  python -m tests.rediscover kafka-13149             one
  python -m tests.rediscover --db-folder found       keep the databases of findings
  python -m tests.rediscover --seconds 1800          on a busy machine
"""


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.rediscover",
        description="Campaigns against releases with known bugs, and the ones that mended them.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "pairs", nargs="*", help="names of pairs; all that are found if none is given"
    )
    parser.add_argument("--cases", type=int, default=CASES, help=f"within so many ({CASES:,})")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help=f"within so many a campaign ({SECONDS:.0f})"
    )
    parser.add_argument("--db-folder", type=Path, help="keep findings there")
    asked = parser.parse_args()
    names = [pair.name for pair in ALL]
    unknown = [name for name in asked.pairs if name not in names]
    if unknown:
        parser.error(f"there is no pair {unknown[0]}; there are: {', '.join(names)}")
    wanted = tuple(pair for pair in ALL if pair.name in asked.pairs) or USUAL

    progress = Console(stderr=True, highlight=False)
    scores: list[Score] = []
    with tempfile.TemporaryDirectory(prefix="barnabas-rediscover-") as temporary:
        folder = asked.db_folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for pairs in groups(wanted).values():
            try:
                scores += score(
                    pairs,
                    folder,
                    asked.cases,
                    lambda line: progress.print(line, markup=False),
                    asked.seconds,
                )
            except (CannotRun, Trouble) as problem:
                scores += [Score(pair, reason=str(problem)) for pair in pairs]
    print("\n".join(table(scores)))
    return 0 if all(one.scored for one in scores) else 1


def table(scores: Sequence[Score]) -> list[str]:
    """The scores as docs/explanation/rediscovery.md shows them."""
    lines = [
        "| pair | old → fixed | source | found at case | by the oracle | also fires on both |",
        "|---|---|---|---|---|---|",
    ]
    for one in scores:
        pair = one.pair
        fixed = pair.fixed.partition("?")[0].rpartition("@")[2].rpartition(":")[2]
        releases = f"{pair.old.partition('?')[0]} → {fixed}"
        at = f"{one.found_at:,}" if one.scored else one.reason or f"not in {one.ran:,}"
        lines.append(
            f"| {pair.name} | {releases} | {pair.source} | {at} | {one.oracle} | {one.also} |"
        )
    found = sum(one.scored for one in scores)
    return [*lines, "", f"{found} of {len(scores)} found."]


if __name__ == "__main__":
    sys.exit(main())
