"""The examples of all faults, each from its own test file."""

from __future__ import annotations

import importlib
import json
from importlib.util import find_spec
from typing import Final

from barnabas.proxy.faults import CONNECTIONS, FAULTS
from tests.proxy.faults.given import Examples, Row

TESTED: Final = [
    fault for fault in FAULTS if find_spec(f"tests.proxy.faults.test_{fault[0]}") is not None
]
"""The faults that have a test file: `test_faults` fails for those that have none."""

EXAMPLES: Final[dict[str, Examples]] = {
    name: importlib.import_module(f"tests.proxy.faults.test_{name}").EXAMPLES for name, *_ in TESTED
}

ABOUT_MESSAGES: Final = {
    name: EXAMPLES[name] for name, model, *_ in TESTED if model not in CONNECTIONS
}


def rows(examples: Examples) -> list[Row]:
    """Return the fate of messages, for each of some settings."""
    return [*examples.rows] or [Row(json.dumps(examples.settings))]


def live(examples: Examples) -> list[str]:
    """Return settings for a live run."""
    return [*examples.live] or [json.dumps(examples.settings)]
