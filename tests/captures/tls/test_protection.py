"""Test keys and records of the RFCs' examples; test_connection covers OpenSSL."""

from __future__ import annotations

from barnabas.captures.tls.protection import SUITES, Suite, expand_label, prf, traffic

AES_128 = SUITES[0x1301]
SECRET = bytes.fromhex("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5")
"""RFC 8448, 3: the client's first application traffic secret."""
RECORD = bytes.fromhex(
    "1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a20441e2b"
    "62974e1f5a6292a2977014bd1e3deae63aeebb21694915e4"
)
"""The record of it with application data."""


def test_keys_of_rfc_8448() -> None:
    assert expand_label(AES_128, SECRET, "key", 16).hex() == "17422dda596ed5d9acd890e3c63f5051"
    assert expand_label(AES_128, SECRET, "iv", 12).hex() == "5b78923dee08579033e523d9"


def test_a_record_of_rfc_8448() -> None:
    opened = traffic(AES_128, SECRET)
    assert opened(0, RECORD[:5], RECORD[5:]) == (23, bytes(range(50)))
    assert opened(1, RECORD[:5], RECORD[5:]) is None
    assert opened(0, RECORD[:5], RECORD[5:-1] + b"\0") is None
    assert opened(0, b"\x17\x03\x03\0\x44", RECORD[5:]) is None
    assert opened(0, b"\x17\x03\x03\0\3", b"abc") is None


def test_prf_of_tls_1_2() -> None:
    """The vector for P_SHA256 that implementers have agreed upon on the list of the working group."""
    seed = b"test label" + bytes.fromhex("a0ba9f936cda311827a6f796ffd5198c")
    secret = bytes.fromhex("9bbe436ba940f017b17652849a71db35")
    found = prf(AES_128, secret, seed, 100).hex()
    assert found.startswith("e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a")
    assert found.endswith("0fff70187347b66")


def test_padding_is_none_of_the_content() -> None:
    suite: Suite = AES_128
    key, iv = expand_label(suite, SECRET, "key", 16), expand_label(suite, SECRET, "iv", 12)
    header = b"\x17\x03\x03\0\x20"
    for inner, content in (
        (b"a\0b\0\x17\0\0\0", (23, b"a\0b\0")),
        (b"\0\0", (0, b"")),
        (b"", (0, b"")),
    ):
        body = suite.aead(key).encrypt(iv, inner, header)
        assert traffic(suite, SECRET)(0, header, body) == content
