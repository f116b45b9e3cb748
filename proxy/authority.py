"""A certificate authority of the proxy's own: made on first use, and kept for the next time.

Clients trust `ca.pem` once; each listener gets a certificate for the names it is reached by. It is
for test benches: whoever can read the key can stand between those who trust it.
"""

from __future__ import annotations

import os
import ssl
from pathlib import Path

import trustme

from proxy.tls import Mint, demand

CERTIFICATE = "ca.pem"
KEY = "ca.key"


def authority(folder: Path) -> trustme.CA:
    """The CA in a folder; made there if there is none. Raises OSError, ValueError for what is no CA."""
    certificate, key = folder / CERTIFICATE, folder / KEY
    if certificate.exists() and key.exists():
        return trustme.CA.from_pem(certificate.read_bytes(), key.read_bytes())
    made = trustme.CA(organization_name="barnabas", organization_unit_name="test bench")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    secret = os.open(key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(secret, "wb") as file:
        file.write(made.private_key_pem.bytes())
    certificate.write_bytes(made.cert_pem.bytes())
    return made


def minted(ca: trustme.CA, client_ca: Path | None = None) -> Mint:
    """A certificate for each set of names; clients need one by `client_ca` if it is given."""
    made: dict[tuple[str, ...], ssl.SSLContext] = {}

    def mint(names: tuple[str, ...]) -> ssl.SSLContext:
        if names not in made:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            ca.issue_cert(*dict.fromkeys(names)).configure_cert(context)
            demand(context, client_ca)
            made[names] = context
        return made[names]

    return mint
