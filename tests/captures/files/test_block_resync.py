"""What begins a block by what is read of blocks one by one begins one here, too."""

from __future__ import annotations

import io
import struct

from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.files.block_resync import skip_to_block, skip_to_record
from barnabas.captures.files.pcap import MAGICS, read_header
from barnabas.captures.files.pcapng import BLOCK_LIMIT, NUMBERED, ORDERS
from barnabas.captures.files.read_buffer import ReadBuffer

SIZES = st.integers(0, 70_000)
ORDER = st.sampled_from(sorted(ORDERS.values()))


def next_block(data: bytes, order: str) -> int:
    """The offset of the first block."""
    window = ReadBuffer(io.BytesIO(b"." + data))
    window.has(1)
    skip_to_block(window, order)
    return window.before + window.at - 1


def block(order: str, kind: int, size: int, again: int = 0) -> bytes:
    length = 12 + (size + 3) // 4 * 4
    head, tail = struct.pack(order + "II", kind, length), struct.pack(order + "I", length + again)
    return head + bytes(length - 12) + tail


@given(
    order=ORDER,
    sizes=st.lists(SIZES, min_size=4, max_size=5),
    kind=st.sampled_from((1, 2, 3, 4, 5, 6, 10)),
    others=st.sampled_from(NUMBERED),
)
def test_a_chain_of_blocks_begins_where_it_does(
    order: str, sizes: list[int], kind: int, others: int
) -> None:
    first, *rest = sizes
    data = block(order, kind, first) + b"".join(block(order, others, size) for size in rest)
    assert next_block(data, order) == 0


@given(order=ORDER, size=SIZES, again=st.sampled_from((-4, 4, BLOCK_LIMIT)))
def test_who_repeats_another_length_is_no_block(order: str, size: int, again: int) -> None:
    wrong = block(order, 1, size, again)
    data = wrong + block(order, 1, 8)
    assert next_block(data, order) == len(wrong)


@given(
    magic=st.sampled_from(sorted(MAGICS)),
    sizes=st.lists(st.integers(1, 70_000), min_size=4, max_size=5),
    begin=st.integers(0, (1 << 32) - 8),
)
def test_a_chain_of_records_begins_where_it_does(
    magic: bytes, sizes: list[int], begin: int
) -> None:
    order, tick, size = MAGICS[magic]
    layout = read_header(magic + struct.pack(order + "H18x", 2))
    data = b"".join(
        struct.pack(order + "4I", begin + at, 999_999_999 // tick, length, length)
        + bytes(size - 16 + length)
        for at, length in enumerate(sizes)
    )
    window = ReadBuffer(io.BytesIO(b"." + data))
    window.has(1)
    skip_to_record(window, layout)
    assert window.before + window.at == 1
