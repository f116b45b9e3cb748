"""`python -m tests.samples [NAME ...]`: record the samples anew, all or some.

Needs tcpdump, dumpcap and editcap, the right to capture on loopback, and Java; Apache Kafka is downloaded.
What the tests and README say of the files must be looked at again then.
"""

from __future__ import annotations

import argparse
import sys
from typing import Final

from tests import places
from tests.interrupts import children_hear_interrupts
from tests.samples.recipes import SAMPLES

FOLDER: Final = places.SAMPLES


def main() -> int:
    """Make what was asked for."""
    children_hear_interrupts()
    names = [name for name, _ in SAMPLES]
    parser = argparse.ArgumentParser(prog="python -m tests.samples", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    asked = parser.parse_args().names
    if unknown := set(asked) - set(names):
        parser.error(f"no sample {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    for name, make in SAMPLES:
        if name in (asked or names):
            print(f"{name}:", file=sys.stderr)
            make(FOLDER / name)
            (FOLDER / name).chmod(0o644)
    return 0


if __name__ == "__main__":
    sys.exit(main())
