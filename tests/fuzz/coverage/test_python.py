from __future__ import annotations

import io
from typing import Any

import pytest

from barnabas.fuzz.coverage.agent import DumpError
from barnabas.fuzz.coverage.lines import Lines, Unit
from barnabas.fuzz.coverage.python import dump, lines_of


def _functions(**found: tuple[list[int], list[int]]) -> dict[str, Any]:
    """As coverage.py reports them; of a module itself the name is empty."""
    return {
        "functions": {
            name.replace("_DOT_", ".").removeprefix("MODULE"): {
                "executed_lines": executed,
                "missing_lines": missing,
            }
            for name, (executed, missing) in found.items()
        }
    }


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"[1]",
        b'{"f": 1}',
        b'{"f": ["x"]}',
        b'{"f": [-1]}',
        b'{"f": [1048576]}',
        b'{"f": []}',
        b'{"f": [1e999]}',
        b'{"f": [1000000000000], "g": [-1000000000000]}',
        b'{"\\ud800": [1]}',
        b'{"f": [600000], "g": [600000]}',
        b'{"' + b"n" * (1 << 20) + b'": [1]}',
        b"[" * 200_000,
    ],
    ids=lambda said: said[:40],
)
def test_what_is_no_lines_of_files_is_refused(said: bytes) -> None:
    with pytest.raises(DumpError):
        dump(io.BytesIO(len(said).to_bytes(4) + said))


def test_functions_that_read_bytes_are_units_in_packages_of_the_protocol() -> None:
    place = "/venv/lib/python3.11/site-packages"
    report = {
        "files": {
            f"{place}/kafka/protocol/frame.py": _functions(
                KafkaBytes_DOT_read=([7, 8], [10]),
                KafkaBytes_DOT_write=([], [16]),
                MODULE=([6], []),
            ),
            f"{place}/kafka/record/util.py": _functions(decode_varint=([], [100, 101])),
            f"{place}/kafka/net/selector.py": _functions(Selector_DOT_read=([3], [4])),
            f"{place}/kafka/empty.py": _functions(MODULE=([], [])),
        }
    }
    assert lines_of(report) == {
        Unit("kafka.protocol", "frame.KafkaBytes.read", True): Lines(0b11, 0b1011),
        Unit("kafka.protocol", "frame", False): Lines(1, 1 | 1 << 10),
        Unit("kafka.record", "util.decode_varint", True): Lines(0, 0b11),
        Unit("kafka.net", "selector", False): Lines(0b1, 0b11),
    }
