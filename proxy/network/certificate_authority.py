"""A certificate authority of the proxy's own: made on first use, and kept for the next time.

Clients trust `ca.pem` once; each listener gets a certificate for the names it is reached by. It is
for test benches: whoever can read the key can stand between those who trust it.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import ssl
from collections.abc import Iterator
from pathlib import Path

import trustme

from barnabas.captures.files import private
from barnabas.proxy.network.tls import Mint, require_certificate

CERTIFICATE = "ca.pem"
KEY = "ca.key"

KEPT = 256
"""Certificates: one for each address that clients came by and broker that they went to."""


def authority(folder: Path) -> trustme.CA:
    """The CA in a folder; made there if there is none. Raises OSError, ValueError for what is no CA.

    Several processes may ask at once: one of them makes it, all get the same.
    """
    private.folder(folder)
    certificate, key = folder / CERTIFICATE, folder / KEY
    with _locked(folder):
        if certificate.exists() and key.exists():
            return trustme.CA.from_pem(certificate.read_bytes(), key.read_bytes())
        made = trustme.CA(organization_name="barnabas", organization_unit_name="test bench")
        certificate.unlink(missing_ok=True)  # where it stands, the key beside it is its own
        private.replace(key, made.private_key_pem.bytes())
        private.replace(certificate, made.cert_pem.bytes())
        return made


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait until nobody else is at a folder, as far as its disk knows locks."""
    file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def minted(ca: trustme.CA, client_ca: Path | None = None) -> Mint:
    """A certificate for each set of names; clients need one by `client_ca` if it is given.

    Names that no certificate can have are left out; those of the last KEPT sets are kept.
    """

    @functools.lru_cache(KEPT)
    def mint(names: tuple[str, ...]) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        ca.issue_cert(*filter(certifiable, dict.fromkeys(map(_unscoped, names)))).configure_cert(
            context
        )
        require_certificate(context, client_ca)
        return context

    return mint


def certifiable(name: str) -> bool:
    """Whether a certificate can be for this name, of which a broker may have said anything.

    >>> certifiable("kafka.example.org"), certifiable("::1"), certifiable("kafka_1"), certifiable("a..b")
    (True, True, False, False)
    """
    try:
        _trial().issue_cert(name)
    except ValueError:
        return False
    return True


@functools.cache
def _trial() -> trustme.CA:
    """What certificates are tried with that nobody gets."""
    return trustme.CA()


def _unscoped(name: str) -> str:
    """An address without the scope that certificates do not have."""
    return name.partition("%")[0]
