"""Whom a certificate names, beside what Java makes of the same certificates."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Final

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from barnabas.proxy.network.principal import principal

KEY: Final = ec.generate_private_key(ec.SECP256R1())
ISSUER: Final = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ca")])
DAY: Final = datetime.datetime(2020, 1, 1)  # noqa: DTZ001 - in a certificate it is UTC

COMMON, UNIT = NameOID.COMMON_NAME, NameOID.ORGANIZATIONAL_UNIT_NAME
ORGANIZATION, COMPONENT = NameOID.ORGANIZATION_NAME, NameOID.DOMAIN_COMPONENT

Parts = Sequence[Sequence[tuple[x509.ObjectIdentifier, str]]]

NAMES: Final[dict[str, Parts]] = {
    "CN=alice": [[(COMMON, "alice")]],
    "CN=alice,OU=Engineering,O=Example,L=Berlin,ST=Land Berlin,C=DE": [
        [(NameOID.COUNTRY_NAME, "DE")],
        [(NameOID.STATE_OR_PROVINCE_NAME, "Land Berlin")],
        [(NameOID.LOCALITY_NAME, "Berlin")],
        [(ORGANIZATION, "Example")],
        [(UNIT, "Engineering")],
        [(COMMON, "alice")],
    ],
    "UID=7,DC=example,DC=org,STREET=Long Lane 1": [
        [(NameOID.STREET_ADDRESS, "Long Lane 1")],
        [(COMPONENT, "org")],
        [(COMPONENT, "example")],
        [(NameOID.USER_ID, "7")],
    ],
    "CN=b+OU=a": [[(COMMON, "b"), (UNIT, "a")]],
    r"CN=a\,b\=c\+d\<e\>f\#g\;h\"i\\j,O=\ \ two\ \ \ ": [
        [(ORGANIZATION, "  two   ")],
        [(COMMON, 'a,b=c+d<e>f#g;h"i\\j')],
    ],
    r"CN=\#1,O=\ ": [[(ORGANIZATION, " ")], [(COMMON, "#1")]],
    r"CN=a\00b": [[(COMMON, "a\0b")]],
    "CN=Zoë 张": [[(COMMON, "Zoë 张")]],
    "1.2.840.113549.1.9.1=#160e6d65406578616d706c652e6f7267,CN=me": [
        [(COMMON, "me")],
        [(NameOID.EMAIL_ADDRESS, "me@example.org")],
    ],
    "2.5.4.5=#130331372c,2.999.1=#0c0141": [
        [(x509.ObjectIdentifier("2.999.1"), "A")],
        [(NameOID.SERIAL_NUMBER, "17,")],
    ],
    f"OU={'x' * 60},OU={'y' * 60},OU={'z' * 60}": [[(UNIT, each * 60)] for each in "zyx"],
    "": [],
}
"""What the name of a subject is, and its parts as they stand in the certificate."""


KINDS: Final = {
    **dict.fromkeys((0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1E), "CN=alice"),
    **{tag: f"CN=#{tag:02x}05616c696365" for tag in (0x12, 0x1A, 0x1C)},
}
"""The name by the tag of the string that the subject has."""


def of_kind(tag: int) -> bytes:
    """Return a certificate of alice whose name is a string with this tag."""
    return certificate(NAMES["CN=alice"]).replace(b"\x0c\x05alice", bytes((tag, 5)) + b"alice")


def certificate(parts: Parts) -> bytes:
    subject = x509.Name(
        [
            x509.RelativeDistinguishedName([x509.NameAttribute(*each) for each in part])
            for part in parts
        ]
    )
    builder = x509.CertificateBuilder(ISSUER, subject, KEY.public_key(), 1, DAY, DAY)
    return builder.sign(KEY, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


@pytest.mark.parametrize("name", NAMES)
def test_name(name: str) -> None:
    assert principal(certificate(NAMES[name])) == (name or None)


@pytest.mark.parametrize("tag", KINDS)
def test_kinds_of_strings(tag: int) -> None:
    assert principal(of_kind(tag)) == KINDS[tag]


def test_a_certificate_of_version_1_has_no_field_that_says_so() -> None:
    def sequence(content: bytes) -> bytes:
        return b"\x30\x82" + len(content).to_bytes(2) + content

    whole = x509.load_der_x509_certificate(certificate(NAMES["CN=alice"])).tbs_certificate_bytes
    _, version, rest = whole.partition(bytes((0xA0, 3, 2, 1, 2)))
    assert version
    assert principal(sequence(sequence(rest))) == "CN=alice"


def test_what_is_no_certificate_names_nobody() -> None:
    whole = certificate(NAMES["CN=b+OU=a"])
    for size in range(len(whole)):
        assert principal(whole[:size]) is None
    assert principal(bytes(64)) is None


@pytest.mark.needs_apache
def test_java_makes_the_same_names() -> None:
    from tests.proxy.java_process import ask_java

    asked = [*map(certificate, NAMES.values()), *map(of_kind, KINDS)]
    said = ask_java("principal", (each.hex() for each in asked))
    assert said == [*NAMES, *KINDS.values()]
