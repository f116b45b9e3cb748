"""Records what others may rely on, as it is now, and says what changed."""

from __future__ import annotations

import json

from tests.stability.compare import compare
from tests.stability.promises import PROMISES, recording


def main() -> None:
    """Write each file."""
    for promise in PROMISES:
        path, now = recording(promise), promise()
        if path.exists():
            changes = compare(json.loads(path.read_text()), now)
            for kind, lines in changes._asdict().items():
                for line in lines:
                    print(f"{promise.__name__}: {kind}: {line}")
        path.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
