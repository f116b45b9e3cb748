"""The TCP headers of many packets at once: `captures.tcp.fast_headers` with arrays."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from barnabas.captures.tcp.headers import (
    DATA_OFFSET,
    FIXED,
    FRAGMENT,
    IPV4,
    IPV4_HEADER,
    IPV4_PLAIN,
    IPV6,
    IPV6_HEADER,
    TCP,
    TCP_HEADER,
    TYPED,
)
from barnabas.pipeline.reading.packet_arrays import Ints, PacketArrays

_PLACES: Final = {linktype: (None, at) for linktype, at in FIXED.items()} | TYPED
"""The offsets of the EtherType, if there is one, and of the IP header, by link type."""
_UPPER: Final = (TCP, 17, 58)
"""Protocols after an IPv6 header without extensions: TCP, UDP, ICMPv6."""
_NO_IP: Final = (0x0806, 0x88CC)
"""EtherTypes: ARP, LLDP."""
Bytes = NDArray[np.uint8]


class _Layout(NamedTuple):
    """The offsets of the fields of an IP header without options."""

    kind: int
    """The EtherType."""
    first: tuple[int, int]
    """A mask for the first byte, and the masked value."""
    header: int
    length: int
    """The offset of the length."""
    before: int
    """Bytes that the length does not count."""
    protocol: int
    addresses: int
    address: int
    """Bytes of an address."""


_V4: Final = _Layout(IPV4, (0xFF, IPV4_PLAIN), IPV4_HEADER, 2, 0, 9, 12, 4)
_V6: Final = _Layout(IPV6, (0xF0, 0x60), IPV6_HEADER, 4, IPV6_HEADER, 6, 8, 16)
_WINDOW: Final = max(at for _, at in _PLACES.values()) + _V6.header + TCP_HEADER
"""Bytes that contain all headers."""


class Headers(NamedTuple):
    """The TCP headers of packets in the most frequent form, all of one IP version."""

    items: Ints
    """The indexes of the packets."""
    ends: Bytes
    """Both addresses with their ports, the lower endpoint first: a row of 12 or 36 bytes for each packet."""
    forward: NDArray[np.bool_]
    """Whether the sender is the first endpoint."""
    seq: Ints
    ack: Ints
    flags: Ints
    starts: Ints
    """The offsets of the payload in `PacketArrays.data`."""
    sizes: Ints


def fast_headers(arrays: PacketArrays) -> list[Headers]:
    """Return the headers of all packets in the most frequent form that have no comment."""
    data = np.frombuffer(arrays.data, np.uint8)
    if len(data) < _WINDOW:
        return []
    items = np.flatnonzero(arrays.starts + _WINDOW <= len(data))
    if arrays.comments:
        items = np.setdiff1d(items, list(arrays.comments))
    if not items.size:
        return []
    windows = np.lib.stride_tricks.sliding_window_view(data, _WINDOW)
    all_headers = []
    linktypes = arrays.linktypes[items]
    for linktype in np.unique(linktypes).tolist():
        if linktype not in _PLACES:
            continue
        typed, at = _PLACES[linktype]
        same_type = items[linktypes == linktype]
        heads = windows[arrays.starts[same_type]]
        for layout in (_V4, _V6):
            headers = _of_version(arrays, same_type, heads, typed, at, layout)
            if headers is not None:
                all_headers.append(headers)
    return all_headers


def slow_packets(arrays: PacketArrays) -> Ints:
    """Return the packets that may be fragments, or have comments.

    This is cheaper than `fast_headers`: most packets of protocols other than TCP are excluded, too.
    """
    data = np.frombuffer(arrays.data, np.uint8)
    look = np.ones(len(arrays.blocks), bool)
    if len(data) >= _WINDOW:
        items = np.flatnonzero(arrays.starts + _WINDOW <= len(data))
        windows = np.lib.stride_tricks.sliding_window_view(data, _WINDOW)
        linktypes = arrays.linktypes[items]
        for linktype in np.unique(linktypes).tolist():
            if linktype in _PLACES:
                same_type = items[linktypes == linktype]
                typed, at = _PLACES[linktype]
                look[same_type] = ~_whole(windows, arrays.starts[same_type], typed, at)
    look[list(arrays.comments)] = True
    return np.flatnonzero(look)


def _whole(windows: Bytes, starts: Ints, typed: int | None, at: int) -> NDArray[np.bool_]:
    """Return which packets are whole datagrams, or no IP at all."""
    first = windows[starts, at]
    fragment = windows[starts, at + 6].astype(np.int64) << 8 | windows[starts, at + 7]
    four: NDArray[np.bool_] = (first >> 4 == 4) & (fragment & FRAGMENT == 0)
    six: NDArray[np.bool_] = (first >> 4 == 6) & np.isin(windows[starts, at + 6], _UPPER)
    if typed is None:
        return four | six
    kind = windows[starts, typed].astype(np.int64) << 8 | windows[starts, typed + 1]
    four &= kind == _V4.kind
    six &= kind == _V6.kind
    return four | six | np.isin(kind, _NO_IP)


def _of_version(
    arrays: PacketArrays, items: Ints, heads: Bytes, typed: int | None, at: int, layout: _Layout
) -> Headers | None:
    bits, value = layout.first
    fits = heads[:, at] & bits == value
    if typed is not None:
        fits &= _short(heads, typed) == layout.kind
    if not fits.any():
        return None
    items, heads = items[fits], heads[fits]
    sizes = arrays.sizes[items]
    tcp = at + layout.header
    length = _short(heads, at + layout.length)
    fits = (heads[:, at + layout.protocol] == TCP) & (sizes >= tcp + TCP_HEADER)
    if layout is _V4:
        fits &= _short(heads, at + 6) & FRAGMENT == 0
    end = at + layout.before + length
    word = _short(heads, tcp + 12)
    header = (word >> DATA_OFFSET) * 4
    start = tcp + header
    fits &= (header >= TCP_HEADER) & (length != 0) & (start <= end) & (end <= sizes)
    if not fits.any():
        return None
    items, heads, start, end, word = (x[fits] for x in (items, heads, start, end, word))
    address_size, address_offset = layout.address, at + layout.addresses
    source, target = (
        heads[:, address_offset : address_offset + address_size],
        heads[:, address_offset + address_size : address_offset + 2 * address_size],
    )
    sport, dport = heads[:, tcp : tcp + 2], heads[:, tcp + 2 : tcp + 4]
    first, second = np.hstack((source, sport)), np.hstack((target, dport))
    forward = _lower(first, second)
    swap = ~forward[:, None]
    ends = np.hstack((np.where(swap, second, first), np.where(swap, first, second)))
    begin = arrays.starts[items]
    return Headers(
        items,
        ends,
        forward,
        _long(heads, tcp + 4),
        _long(heads, tcp + 8),
        word & 0xFF,
        begin + start,
        end - start,
    )


def _short(heads: Bytes, at: int) -> Ints:
    return np.ascontiguousarray(heads[:, at : at + 2]).view(">u2")[:, 0].astype(np.int64)


def _long(heads: Bytes, at: int) -> Ints:
    return np.ascontiguousarray(heads[:, at : at + 4]).view(">u4")[:, 0].astype(np.int64)


def _lower(first: Bytes, second: Bytes) -> NDArray[np.bool_]:
    """Return which rows are not above the other's row, in the order of bytes."""
    differ = first != second
    first_difference = differ.argmax(axis=1)[:, None]
    a, b = (
        np.take_along_axis(first, first_difference, 1),
        np.take_along_axis(second, first_difference, 1),
    )
    return (a <= b)[:, 0]
