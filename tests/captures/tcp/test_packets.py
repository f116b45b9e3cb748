"""Test one conversation in every link type, as scapy writes it and tshark reads it."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.host_port import Endpoint
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.packets import Packets
from tests.captures.traffic import (
    exchanges,
    gist,
    ip_packet,
    kafka_seen,
    marks,
    segments,
    talk,
    tshark,
    write_pcap,
)

pytestmark = pytest.mark.filterwarnings("ignore")

FOUR: tuple[Endpoint, Endpoint] = (("10.0.0.1", 50000), ("10.0.0.2", 19092))
SIX: tuple[Endpoint, Endpoint] = (("fe80::1", 50000), ("fe80::2", 19092))
SIZE = 120


def plain(ends: tuple[Endpoint, Endpoint] = FOUR) -> list[bytes]:
    whole = segments(talk(), itertools.repeat(SIZE), client=ends[0], broker=ends[1])
    return list(map(ip_packet, whole))


def behind(layers: Callable[[Any], Any]) -> Callable[[bytes], list[bytes]]:
    """Each packet behind other headers, which scapy makes; they get the IP layer."""

    def wrap(data: bytes) -> list[bytes]:
        inner = scapy().IP(data) if data[0] >> 4 == 4 else scapy().IPv6(data)
        found = layers(inner)
        return [bytes(packet) for packet in (found if isinstance(found, list) else [found])]

    return wrap


@cache
def scapy() -> Any:
    """Import the layers of scapy, which takes long."""
    from scapy.contrib import mpls
    from scapy.layers import inet, inet6, l2, ppp, vxlan

    return SimpleNamespace(
        **{k: v for one in (l2, inet, inet6, mpls, ppp, vxlan) for k, v in vars(one).items()}
    )


MAC = {"src": "02:00:00:00:00:01"}
BETWEEN = {"src": "192.0.2.1", "dst": "192.0.2.2"}
NAMES = itertools.count(1)


def ether(inner: Any) -> Any:
    return scapy().Ether(**MAC, dst="02:00:00:00:00:02") / inner


def options(inner: Any) -> Any:
    inner.options = [scapy().IPOption_Timestamp(), scapy().IPOption_NOP()]
    inner.ihl = inner.len = None
    return inner


def pieces(inner: Any) -> list[Any]:
    """IPv4 fragments, each packet's in reverse."""
    inner.flags, inner.id = 0, next(NAMES) & 0xFFFF
    inner.len = inner.chksum = None
    return list(scapy().fragment(inner, 48))[::-1]


def pieces6(inner: Any) -> list[Any]:
    whole, name, s = bytes(inner.payload), next(NAMES), scapy()
    ip, last = s.IPv6(src=inner.src, dst=inner.dst), (len(whole) - 1) // 48
    return [
        ip / s.IPv6ExtHdrFragment(nh=6, id=name, offset=6 * at, m=at < last) / whole[48 * at :][:48]
        for at in range(last + 1)
    ]


def extensions(inner: Any) -> Any:
    s = scapy()
    headers = s.IPv6ExtHdrHopByHop() / s.IPv6ExtHdrRouting(segleft=0) / s.IPv6ExtHdrDestOpt()
    return s.IPv6(src=inner.src, dst=inner.dst) / headers / inner.payload


def null(inner: Any) -> Any:
    return scapy().Loopback(type=2 if inner.version == 4 else 30) / inner


def vxlan(inner: Any, port: int = 4789) -> Any:
    s = scapy()
    outer = s.IP(**BETWEEN) / s.UDP(sport=5000, dport=port) / s.VXLAN(vni=9)
    return ether(outer / ether(inner))


def same(inner: Any) -> Any:
    return inner


WRAPPINGS: list[tuple[str, int, Callable[[Any], Any], tuple[Endpoint, Endpoint]]] = [
    ("ethernet", 1, ether, FOUR),
    ("ethernet of IPv6", 1, ether, SIX),
    ("padded", 1, lambda ip: ether(ip) / (b"\0" * 20), FOUR),
    ("vlan", 1, lambda ip: scapy().Ether(**MAC) / scapy().Dot1Q(vlan=7) / ip, FOUR),
    ("vlan in vlan", 1,
     lambda ip: scapy().Ether(**MAC) / scapy().Dot1AD(vlan=5) / scapy().Dot1Q(vlan=7) / ip, SIX),
    ("cooked", 113, lambda ip: scapy().CookedLinux() / ip, FOUR),
    ("cooked v2", 276, lambda ip: scapy().CookedLinuxV2() / ip, FOUR),
    ("null", 0, null, FOUR),
    ("null of IPv6", 0, null, SIX),
    ("raw", 101, same, FOUR),
    ("raw on BSD", 12, same, FOUR),
    ("raw IPv4", 228, same, FOUR),
    ("raw IPv6", 229, same, SIX),
    ("options", 101, options, FOUR),
    ("extension headers", 101, extensions, SIX),
    ("fragments", 101, pieces, FOUR),
    ("fragments of IPv6", 101, pieces6, SIX),
    ("pppoe", 1,
     lambda ip: scapy().Ether(**MAC, type=0x8864) / scapy().PPPoE(sessionid=3) / scapy().PPP() / ip, FOUR),
    ("mpls", 1, lambda ip: scapy().Ether(**MAC, type=0x8847) / scapy().MPLS(label=17, s=1) / ip, FOUR),
    ("gre", 1, lambda ip: ether(scapy().IP(**BETWEEN) / scapy().GRE() / ip), FOUR),
    ("vxlan", 1, vxlan, SIX),
    ("vxlan of Linux", 1, lambda ip: vxlan(ip, 8472), FOUR),
    ("ppp", 9, lambda ip: scapy().HDLC() / scapy().PPP() / ip, FOUR),
]  # fmt: skip
EVERY = pytest.mark.parametrize(
    ("linktype", "layers", "ends"),
    [row[1:] for row in WRAPPINGS],
    ids=[row[0] for row in WRAPPINGS],
)


def wrapped(path: Path, linktype: int, layers: Any, ends: tuple[Endpoint, Endpoint]) -> Path:
    wrap = behind(layers)
    return write_pcap(path, [found for data in plain(ends) for found in wrap(data)], linktype)


@EVERY
def test_every_wrapping(
    tmp_path: Path, linktype: int, layers: Any, ends: tuple[Endpoint, Endpoint]
) -> None:
    path = wrapped(tmp_path / "f", linktype, layers, ends)
    reader = CaptureReader(path)
    list(reader)
    packets = reader.packets
    assert (packets.foreign, packets.cut, packets.fragments.given_up) == (0, 0, 0)
    assert gist(exchanges(path)) == gist(exchanges(write_pcap(tmp_path / "raw", plain(ends))))


@pytest.mark.needs_tshark
@EVERY
def test_tshark_reads_the_same(
    tmp_path: Path, linktype: int, layers: Any, ends: tuple[Endpoint, Endpoint]
) -> None:
    path = wrapped(tmp_path / "f", linktype, layers, ends)
    found = exchanges(path)
    assert kafka_seen(path) == marks(found)


@pytest.mark.needs_tshark
@pytest.mark.parametrize(("order", "tick"), [("<", 1), (">", 1), ("<", 1000), (">", 1000)])
def test_tshark_reads_the_same_times(tmp_path: Path, order: str, tick: int) -> None:
    path = write_pcap(tmp_path / "f", plain(), 101, order=order, tick=tick)
    times = [int(line.replace(".", "")) for line in tshark(path, "-e", "frame.time_epoch")]
    for exchange in exchanges(path):
        assert exchange.ts == times[exchange.request_packet - 1]


def test_what_is_no_tcp_or_not_whole_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "barnabas.captures.tcp.through_scapy", None)
    packets = Packets()
    arp = bytes(12) + b"\x08\x06" + bytes(28)
    udp = bytes.fromhex("4500001c000000004011000000000000 00000000 0035 0035 0008 0000")
    assert [
        packets.tcp_segment(1, arp),
        packets.tcp_segment(101, udp),
        packets.tcp_segment(101, b""),
    ] == [None, None, None]
    assert (packets.foreign, packets.unread, packets.cut) == (3, {}, 0)
    # without scapy, rare kinds, too
    assert packets.tcp_segment(105, bytes(100)) is None
    assert packets.unread == {105: 1}
    assert packets.tcp_segment(101, plain()[3][:-1]) is not None
    assert packets.cut == 1


def test_a_fragment_that_never_comes_is_counted(tmp_path: Path) -> None:
    found = [piece for data in plain() for piece in behind(pieces)(data)]
    del found[20]
    reader = CaptureReader(write_pcap(tmp_path / "f", found))
    list(reader)
    assert reader.packets.fragments.given_up == 1


@given(
    st.sampled_from([0, 1, 9, 12, 101, 105, 108, 113, 127, 228, 276, 999]),
    st.binary(max_size=120)
    | st.builds(
        lambda data, at, value: data[:at] + bytes([value]) + data[at + 1 :],
        st.sampled_from(plain()),
        st.integers(0, 80),
        st.integers(0, 255),
    ),
)
def test_any_packet(linktype: int, data: bytes) -> None:
    packets = Packets()
    found = packets.tcp_segment(linktype, data)
    assert (found is None) == bool(packets.foreign or packets.fragments.incomplete)
