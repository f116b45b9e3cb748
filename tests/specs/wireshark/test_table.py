"""The tables that the dissector reads by: every version of every message is in them."""

from __future__ import annotations

import re

from barnabas import specs
from barnabas.specs.declaration import Array, Int32, NullableString, String, Struct
from barnabas.specs.layout import resolve
from barnabas.specs.wireshark import script
from barnabas.specs.wireshark.table import Structures, table

LINES = table().splitlines()


def test_every_version_of_every_api_has_its_structures() -> None:
    for key, _, module in specs.REGISTRY:
        first, last = specs.api(key).versions
        (line,) = (line for line in LINES if line.startswith(f'  [{key}] = {{"{module}", '))
        _, asked, answered = re.findall(r'"([^"]*)"', line)
        assert len(asked.split()) == len(answered.split()) == last - first + 1
        assert line.endswith(f"first = {first}}},")


def test_a_structure_is_a_text_of_its_slots() -> None:
    fields = (
        "a" / Int32,
        "b" / Array("c" / NullableString).nullable(),
        "d" / Struct("e" / Int32).tag(7),
        "f" / String.inflexible(),
    )
    structures = Structures()
    number = structures.number(resolve(fields, 0, flexible=True))
    texts = list(structures.texts)
    assert texts == ["+c:string?", "+e:int32", "+a:int32 b:[{1}]? 7=d:{2} f:~string"]
    assert number == 3
    assert structures.number(resolve(fields, 0, flexible=True)) == 3
    assert structures.number(resolve(fields[:1], 0, flexible=False)) == 4


def test_a_name_has_one_type_and_an_array_no_field_of_its_name_for_its_length() -> None:
    text = table()
    assert " length:" not in text
    assert "+length:" not in text


def test_the_script_is_plain_text_of_a_sensible_size() -> None:
    text = script()
    assert text.isascii()
    assert 100_000 < len(text) < 250_000
    assert max(map(len, text.splitlines())) < 1500
