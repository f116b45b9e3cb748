"""The TCP headers of many packets at once: what `captures.tcp.fast_headers` finds in one, by arrays."""

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
"""By link type: where the EtherType stands, if there is one, and the IP header."""
_UPPER: Final = (TCP, 17, 58)
"""What stands behind an IPv6 header that is no extension: TCP, UDP, ICMPv6."""
_NO_IP: Final = (0x0806, 0x88CC)
"""EtherTypes: ARP, LLDP."""
Bytes = NDArray[np.uint8]


class _Layout(NamedTuple):
    """Where the fields of an IP header without options stand, in bytes from its beginning."""

    kind: int
    """The EtherType."""
    first: tuple[int, int]
    """Bits of the first byte, and what they are."""
    header: int
    length: int
    """Where the length stands."""
    before: int
    """Bytes that the length does not count."""
    protocol: int
    addresses: int
    address: int
    """Bytes of one."""


_V4: Final = _Layout(IPV4, (0xFF, IPV4_PLAIN), IPV4_HEADER, 2, 0, 9, 12, 4)
_V6: Final = _Layout(IPV6, (0xF0, 0x60), IPV6_HEADER, 4, IPV6_HEADER, 6, 8, 16)
_WINDOW: Final = max(at for _, at in _PLACES.values()) + _V6.header + TCP_HEADER
"""Bytes in which all headers stand that are looked at."""


class Headers(NamedTuple):
    """Segments of packets of the usual form, all of one version of IP."""

    items: Ints
    """Which of the packets they are."""
    ends: Bytes
    """Both addresses with their ports, the lower one first: a row of 12 or 36 bytes for each."""
    forward: NDArray[np.bool_]
    """Whether the sender is the first of them."""
    seq: Ints
    ack: Ints
    flags: Ints
    starts: Ints
    """Where the payload begins in `PacketArrays.data`."""
    sizes: Ints


def fast_headers(arrays: PacketArrays) -> list[Headers]:
    """Of all packets for which `usual` finds something, and that bear no comment."""
    data = np.frombuffer(arrays.data, np.uint8)
    if len(data) < _WINDOW:
        return []
    items = np.flatnonzero(arrays.starts + _WINDOW <= len(data))
    if arrays.comments:
        items = np.setdiff1d(items, list(arrays.comments))
    if not items.size:
        return []
    windows = np.lib.stride_tricks.sliding_window_view(data, _WINDOW)
    found = []
    linktypes = arrays.linktypes[items]
    for linktype in np.unique(linktypes).tolist():
        if linktype not in _PLACES:
            continue
        typed, at = _PLACES[linktype]
        mine = items[linktypes == linktype]
        heads = windows[arrays.starts[mine]]
        for layout in (_V4, _V6):
            headers = _of_version(arrays, mine, heads, typed, at, layout)
            if headers is not None:
                found.append(headers)
    return found


def slow_packets(arrays: PacketArrays) -> Ints:
    """The packets that may be fragments of datagrams, or bear comments: all that are not plainly none.

    Cheaper than `fast_headers`: most packets of others than TCP are passed over too.
    """
    data = np.frombuffer(arrays.data, np.uint8)
    look = np.ones(len(arrays.blocks), bool)
    if len(data) >= _WINDOW:
        items = np.flatnonzero(arrays.starts + _WINDOW <= len(data))
        windows = np.lib.stride_tricks.sliding_window_view(data, _WINDOW)
        linktypes = arrays.linktypes[items]
        for linktype in np.unique(linktypes).tolist():
            if linktype in _PLACES:
                mine = items[linktypes == linktype]
                typed, at = _PLACES[linktype]
                look[mine] = ~_whole(windows, arrays.starts[mine], typed, at)
    look[list(arrays.comments)] = True
    return np.flatnonzero(look)


def _whole(windows: Bytes, starts: Ints, typed: int | None, at: int) -> NDArray[np.bool_]:
    """Whether it is a whole datagram, or no IP at all."""
    first = windows[starts, at]
    place = windows[starts, at + 6].astype(np.int64) << 8 | windows[starts, at + 7]
    four: NDArray[np.bool_] = (first >> 4 == 4) & (place & FRAGMENT == 0)
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
    long, there = layout.address, at + layout.addresses
    source, target = heads[:, there : there + long], heads[:, there + long : there + 2 * long]
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
    """Whether a row is not above the other, as bytes compare."""
    differ = first != second
    place = differ.argmax(axis=1)[:, None]
    a, b = np.take_along_axis(first, place, 1), np.take_along_axis(second, place, 1)
    return (a <= b)[:, 0]
