from __future__ import annotations

import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

from barnabas.specs.records.xxhash import xxh32, xxh64


@given(st.binary(max_size=200))
@example(bytes(1 << 17))
def test_they_are_those_of_another_implementation(data: bytes) -> None:
    assert xxh32(data) == xxhash.xxh32_intdigest(data)
    assert xxh64(data) == xxhash.xxh64_intdigest(data)
