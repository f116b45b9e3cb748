from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.docs.reference.pages import FOLDER, PAGES


@pytest.mark.parametrize(("name", "page"), PAGES, ids=[name for name, _ in PAGES])
def test_a_page_is_as_the_code_says(name: str, page: Callable[[], str]) -> None:
    assert (FOLDER / name).read_text("utf-8") == page(), "run python -m tests.docs.reference"


def test_there_are_no_other_pages() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {name for name, _ in PAGES}
