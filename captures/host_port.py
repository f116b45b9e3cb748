"""Parse, check and format HOST:PORT."""

from __future__ import annotations

Endpoint = tuple[str, int]
"""An IP address and a port."""


def host_in(text: str) -> str:
    """Return a host without the brackets of IPv6; empty if the text is not a host, such as a URL.

    >>> host_in("kafka"), host_in("[::1]"), host_in("[::1"), host_in("http://kafka")
    ('kafka', '::1', '', '')
    """
    host = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    return "" if host.startswith(("-", "[")) or set("]/@") & set(host) else host


def port_in(text: str) -> int | None:
    r"""Return the port, or 0, in ASCII digits; None if the text is not a port.

    >>> port_in("9092"), port_in("65536"), port_in("\u0669")
    (9092, None, None)
    """
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= 5 else 1 << 16
    return number if number < 1 << 16 else None


def address_in(text: str) -> tuple[str, int] | None:
    """Return the host and port of HOST:PORT; None if the text is not an address, or the port is 0.

    >>> address_in("[::1]:9"), address_in("[::1:9"), address_in("a:0")
    (('::1', 9), None, None)
    """
    host, _, port = text.rpartition(":")
    address = host_in(host), port_in(port)
    return (address[0], address[1]) if address[0] and address[1] else None


def endpoint_text(endpoint: Endpoint) -> str:
    """Format an address as HOST:PORT, with brackets around an IPv6 address.

    >>> endpoint_text(("10.0.0.1", 9092)), endpoint_text(("::1", 9092))
    ('10.0.0.1:9092', '[::1]:9092')
    """
    host, port = endpoint
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def endpoint_of(text: str) -> Endpoint:
    """Parse an address as `endpoint_text` formats it. Raises ValueError if it has no port.

    >>> endpoint_of("10.0.0.1:9092"), endpoint_of("[fe80::1]:9092")
    (('10.0.0.1', 9092), ('fe80::1', 9092))
    """
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def possible(endpoint: Endpoint) -> Endpoint:
    """Return an address after checking that it can exist. Raises OSError with the reason if it can't.

    Resolvers raise other errors for such names, and take ports modulo 65,536.

    >>> possible(("a..b", 9092))
    Traceback (most recent call last):
    OSError: not a valid host name
    """
    host, port = endpoint
    if not 0 < port < 1 << 16:
        raise OSError(f"{port} is not a port")
    if not host.isprintable() or " " in host:
        raise OSError("not a valid host name")
    try:
        host.encode("idna")
    except UnicodeError:
        raise OSError("not a valid host name") from None
    return endpoint
