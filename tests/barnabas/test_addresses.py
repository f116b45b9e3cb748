"""Addresses on the command line: what nobody can listen or connect to is refused in one line."""

from __future__ import annotations

import pytest

from barnabas.addresses import parse_address, parse_host, parse_ports, parse_servers
from barnabas.trouble import Trouble

HOSTS = ["a b", "a\nb", "\x1b[31m", "x" * 255, "a..b", ".a", "xn--zz\u0378"]


@pytest.mark.parametrize("host", HOSTS)
def test_names_that_nobody_can_have(host: str) -> None:
    for refused in (lambda: parse_address(f"{host}:1"), lambda: parse_host(host, "--advertise")):
        with pytest.raises(Trouble, match="not a valid host name"):
            refused()


@pytest.mark.parametrize("port", ["", "0", "-1", "65536", "1" * 5000, "1_0", "\u00b2", "\u0669"])
def test_ports_that_are_none(port: str) -> None:
    with pytest.raises(Trouble, match="expected HOST:PORT"):
        parse_address(f"localhost:{port}")
    with pytest.raises(Trouble, match="expected FIRST-LAST"):
        parse_ports(f"{port}-9092")


@pytest.mark.parametrize(
    "host", ["-", "--listen", "[::1", "::1]", "[]", "SASL_SSL://kafka", "me@kafka"]
)
def test_what_is_no_host_is_refused_with_an_example_of_one(host: str) -> None:
    with pytest.raises(Trouble, match=r"expected HOST:PORT, e\.g\. localhost:9092"):
        parse_address(f"{host}:9")
    with pytest.raises(Trouble, match=r"expected HOST:PORT, e\.g\. localhost:9092"):
        parse_servers(f"a:1,{host}:9")
    with pytest.raises(Trouble, match=r"a host without a port is expected, e\.g\. localhost"):
        parse_host(host, "--advertise")


@pytest.mark.parametrize("text", ["::1:9092", "::1", "fe80::1%eth0:9092", "2001:DB8::1"])
def test_ipv6_without_brackets_is_refused(text: str) -> None:
    for parse in (parse_address, parse_servers):
        with pytest.raises(Trouble, match=r"write IPv6 in brackets, e\.g\. \[::1\]:9092"):
            parse(text)
    assert parse_servers("[::1], [fe80::1]:1") == [("::1", 9092), ("fe80::1", 1)]


def test_a_link_local_address_may_name_its_scope() -> None:
    assert parse_address("[fe80::1%eth0]:9092") == ("fe80::1%eth0", 9092)
    assert parse_host("fe80::1%eth0", "--advertise") == "fe80::1%eth0"
