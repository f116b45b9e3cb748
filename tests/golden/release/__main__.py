"""`python -m tests.golden.release 4.4.0`: what a release of Kafka has otherwise than we declare it.

0: nothing differs, 1: something does, 2: misuse, 3: it could not be asked. `make kafka-release` ends with 2
for each of the last three, as make does.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from functools import partial

from barnabas.fuzz.errors import CannotRun
from barnabas.peers.apache.errors import UnavailableError
from tests.golden.release import files
from tests.golden.release.differences import differences
from tests.golden.release.kafka import read, written_by_classes
from tests.places import GOLDEN

SEED = 1
"""Of the frames that are in the repository."""


def main() -> int:
    """Compare a release, and write the reference data anew if that is asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.golden.release",
        description="What a release of Kafka has otherwise than we declare it.",
        epilog="Exit code: 0 nothing differs, 1 something does, 2 misuse, 3 it could not be asked. "
        "`make kafka-release` exits with 2 for each of the last three.",
    )
    parser.add_argument("version", help="of kafka-clients, e.g. 4.4.0")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument(
        "--write", action="store_true", help="make frames and definitions in tests/golden anew"
    )
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the frames ({SEED})")
    asked = parser.parse_args()
    if not re.fullmatch(r"\d+\.\d+\.\d+", asked.version):
        parser.error(f"{asked.version!r} is not a version of Kafka; one is e.g. 4.4.0")
    try:
        release = read(asked.version)
        found = differences(release)
        written = None
        if asked.write and _is_newest(asked.version):
            ask = partial(written_by_classes, asked.version)
            written = files.write(GOLDEN, release, asked.seed, ask)
            written += files.write_malformed(GOLDEN, asked.seed)
    except (UnavailableError, CannotRun) as problem:
        print(problem, file=sys.stderr)
        return 3
    if asked.json:
        told = {"version": asked.version, "differences": [one._asdict() for one in found]}
        print(json.dumps(told | {"frames_written": written}, indent=1))
    else:
        print("\n".join(map(str, found)) or f"{asked.version}: nothing differs")
        if written is not None:
            print(f"tests/golden: {written} frames and the definitions written anew")
        elif asked.write:
            print(f"tests/golden: left as it is, of the newer {files.newest(GOLDEN)}")
    return 1 if found else 0


def _is_newest(version: str) -> bool:
    numbers = [[int(part) for part in one.split(".")] for one in (version, files.newest(GOLDEN))]
    return numbers[0] >= numbers[1]


if __name__ == "__main__":
    sys.exit(main())
