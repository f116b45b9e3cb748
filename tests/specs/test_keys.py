"""The names of keys and the registry say the same."""

from __future__ import annotations

import re

from barnabas.specs import keys
from barnabas.specs.registry import NAMES


def test_each_api_has_its_constant() -> None:
    expected = {
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper(): key for key, name in NAMES.items()
    }
    found = {name: value for name, value in vars(keys).items() if name.isupper()}
    assert found == expected
