"""The proxy's own certificate authority: made on first use, and stored for the next time.

Clients trust `ca.pem` once; each listener gets a certificate for the names under which clients reach it. The
CA is for test benches: anybody who can read its key can impersonate the brokers to clients that trust it.
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
"""The most cached certificates: one for each address that clients use and broker that they reach."""


def authority(folder: Path) -> trustme.CA:
    """Return the CA in a folder; make it if there is none.

    If several processes ask at once, one of them makes the CA, and all get the same.

    Raises:
        OSError: The folder cannot be read or written.
        ValueError: The files contain no CA.
    """
    private.folder(folder)
    certificate, key = folder / CERTIFICATE, folder / KEY
    with _locked(folder):
        if certificate.exists() and key.exists():
            return trustme.CA.from_pem(certificate.read_bytes(), key.read_bytes())
        new_ca = trustme.CA(organization_name="barnabas", organization_unit_name="test bench")
        certificate.unlink(missing_ok=True)  # a certificate is only next to its own key
        private.replace(key, new_ca.private_key_pem.bytes())
        private.replace(certificate, new_ca.cert_pem.bytes())
        return new_ca


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, if its file system supports locks."""
    file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def minted(ca: trustme.CA, client_ca: Path | None = None) -> Mint:
    """Return a function that makes a certificate for each set of names.

    With `client_ca`, clients need a certificate by it. Names that no certificate can have are left out. The
    certificates of the last KEPT sets are cached.
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
    """Return whether a certificate can have this name, which may come from a broker.

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
    """Return the CA that names are tried with; its certificates are never used."""
    return trustme.CA()


def _unscoped(name: str) -> str:
    """Return an address without its scope, which certificates do not have."""
    return name.partition("%")[0]
