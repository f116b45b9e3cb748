"""The same conversation in every wrapping, as scapy makes it and tshark reads it."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
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
        from scapy.layers.inet import IP
        from scapy.layers.inet6 import IPv6

        inner = IP(data) if data[0] >> 4 == 4 else IPv6(data)
        found = layers(inner)
        return [bytes(packet) for packet in (found if isinstance(found, list) else [found])]

    return wrap


def ether(inner: Any) -> Any:
    from scapy.layers.l2 import Ether

    return Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / inner


def vlans(inner: Any) -> Any:
    from scapy.layers.l2 import Dot1AD, Dot1Q, Ether

    return Ether(src="02:00:00:00:00:01") / Dot1AD(vlan=5) / Dot1Q(vlan=7) / inner


def vlan(inner: Any) -> Any:
    from scapy.layers.l2 import Dot1Q, Ether

    return Ether(src="02:00:00:00:00:01") / Dot1Q(vlan=7) / inner


def padded(inner: Any) -> Any:
    return ether(inner) / (b"\0" * 20)


def cooked(inner: Any) -> Any:
    from scapy.layers.l2 import CookedLinux

    return CookedLinux() / inner


def cooked2(inner: Any) -> Any:
    from scapy.layers.l2 import CookedLinuxV2

    return CookedLinuxV2() / inner


def null(inner: Any) -> Any:
    from scapy.layers.l2 import Loopback

    return Loopback(type=2 if inner.version == 4 else 30) / inner


def options(inner: Any) -> Any:
    from scapy.layers.inet import IPOption_NOP, IPOption_Timestamp

    inner.options = [IPOption_Timestamp(), IPOption_NOP()]
    inner.ihl = inner.len = None
    return inner


def pieces(inner: Any) -> list[Any]:
    """IPv4 fragments, each packet's in reverse."""
    inner.flags = 0
    inner.id = next(NAMES) & 0xFFFF
    inner.len = inner.chksum = None
    return fragments_of(inner)[::-1]


def fragments_of(inner: Any) -> list[Any]:
    from scapy.layers.inet import fragment

    return list(fragment(inner, 48))


def pieces6(inner: Any) -> list[Any]:
    from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment

    whole = bytes(inner.payload)
    name = next(NAMES)
    steps = range(0, len(whole), 48)
    return [
        IPv6(src=inner.src, dst=inner.dst)
        / IPv6ExtHdrFragment(nh=6, id=name, offset=at // 8, m=at != steps[-1])
        / whole[at : at + 48]
        for at in steps
    ]


NAMES = itertools.count(1)


def extensions(inner: Any) -> Any:
    from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting

    return (
        IPv6(src=inner.src, dst=inner.dst)
        / IPv6ExtHdrHopByHop()
        / IPv6ExtHdrRouting(segleft=0)
        / IPv6ExtHdrDestOpt()
        / inner.payload
    )


def pppoe(inner: Any) -> Any:
    from scapy.layers.l2 import Ether
    from scapy.layers.ppp import PPP, PPPoE

    return Ether(src="02:00:00:00:00:01", type=0x8864) / PPPoE(sessionid=3) / PPP() / inner


def mpls(inner: Any) -> Any:
    from scapy.contrib.mpls import MPLS
    from scapy.layers.l2 import Ether

    return Ether(src="02:00:00:00:00:01", type=0x8847) / MPLS(label=17, s=1) / inner


def gre(inner: Any) -> Any:
    from scapy.layers.inet import IP
    from scapy.layers.l2 import GRE

    return ether(IP(src="192.0.2.1", dst="192.0.2.2") / GRE() / inner)


def vxlan(inner: Any) -> Any:
    from scapy.layers.inet import IP, UDP
    from scapy.layers.vxlan import VXLAN

    outer = IP(src="192.0.2.1", dst="192.0.2.2") / UDP(sport=5000, dport=4789) / VXLAN(vni=9)
    return ether(outer / ether(inner))


def ppp(inner: Any) -> Any:
    from scapy.layers.ppp import HDLC, PPP

    return HDLC() / PPP() / inner


def same(inner: Any) -> Any:
    return inner


WRAPPINGS: list[tuple[str, int, Callable[[Any], Any], tuple[Endpoint, Endpoint]]] = [
    ("ethernet", 1, ether, FOUR),
    ("ethernet of IPv6", 1, ether, SIX),
    ("padded", 1, padded, FOUR),
    ("vlan", 1, vlan, FOUR),
    ("vlan in vlan", 1, vlans, SIX),
    ("cooked", 113, cooked, FOUR),
    ("cooked v2", 276, cooked2, FOUR),
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
    ("pppoe", 1, pppoe, FOUR),
    ("mpls", 1, mpls, FOUR),
    ("gre", 1, gre, FOUR),
    ("vxlan", 1, vxlan, SIX),
    ("ppp", 9, ppp, FOUR),
]


def wrapped(path: Path, linktype: int, layers: Any, ends: tuple[Endpoint, Endpoint]) -> Path:
    wrap = behind(layers)
    return write_pcap(path, [found for data in plain(ends) for found in wrap(data)], linktype)


@pytest.mark.parametrize(
    ("linktype", "layers", "ends"),
    [what[1:] for what in WRAPPINGS],
    ids=[what[0] for what in WRAPPINGS],
)
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
@pytest.mark.parametrize(
    ("linktype", "layers", "ends"),
    [what[1:] for what in WRAPPINGS],
    ids=[what[0] for what in WRAPPINGS],
)
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


def test_what_is_no_tcp_is_counted() -> None:
    packets = Packets()
    arp = bytes(12) + b"\x08\x06" + bytes(28)
    udp = bytes.fromhex("4500001c000000004011000000000000 00000000 0035 0035 0008 0000")
    assert [
        packets.tcp_segment(1, arp),
        packets.tcp_segment(101, udp),
        packets.tcp_segment(101, b""),
    ] == [None, None, None]
    assert (packets.foreign, packets.unread) == (3, {})


def test_without_scapy_rare_kinds_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "barnabas.captures.tcp.through_scapy", None)
    packets = Packets()
    assert packets.tcp_segment(105, bytes(100)) is None
    assert packets.unread == {105: 1}


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
    assert (found is None) == bool(packets.foreign or packets.fragments.kept)
