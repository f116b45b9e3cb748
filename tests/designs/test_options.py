"""Settings by the names of a document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from barnabas.designs.options import addresses, from_options


@dataclass(frozen=True)
class Made:
    name: str
    width: int = field(default=1, metadata={"option": "the width"})
    length_ms: int = field(default=2, metadata={"option": "the length", "read": len})

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"the width of {self.width}: at least 1")


def test_fields_are_set_by_the_documents_names_and_others_by_ours() -> None:
    made = from_options(Made, {"the width": "7", "the length": "abc"}, name="n")
    assert made == Made("n", 7, 3)
    assert from_options(Made, {}, name="n") == Made("n")


@pytest.mark.parametrize("name", ["width", "name", "The width", ""])
def test_a_name_that_the_document_has_not_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: no option; there are the width, the length$"):
        from_options(Made, {name: 1}, name="n")


@pytest.mark.parametrize("value", ["", "one", "1.5", "- 1", "--1", 1.5, True, None, [1]])
def test_a_value_that_can_t_be_read_is_refused_with_its_name(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^the width: .* is no whole number$"):
        from_options(Made, {"the width": value}, name="n")


def test_what_the_settings_refuse_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^the width of 0: at least 1$"):
        from_options(Made, {"the width": 0}, name="n")


@pytest.mark.parametrize(
    "value", ["", "host", "host:", ":1", "host:0", "host:65536", "a:1,,b:2", "[::1:9", "a:\u0669"]
)
def test_what_is_no_address(value: str) -> None:
    with pytest.raises(ValueError, match="is no host:port"):
        addresses(value)
