from __future__ import annotations

import pytest

from barnabas.peers.apache.setting_names import setting_names


def test_a_release_without_a_list_names_none() -> None:
    assert setting_names("0.8.2.2") == frozenset()


@pytest.mark.needs_apache("4.3.1")
def test_internal_settings_are_among_them() -> None:
    names = setting_names("4.3.1")
    assert {"num.io.threads", "unstable.api.versions.enable"} <= names
    assert all(name.count("\n") == 0 and "." in name for name in names if name != "listeners")
