from __future__ import annotations

import pytest

from tests.proxy.playbook import Stage, one_rule
from tests.proxy.scripts import play


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("ask 1; snt 1", "step 'snt 1': no verb 'snt'; did you mean 'sent'?; verbs: ask, answer"),
        ("ask 1;", "step '': no verb ''; verbs: ask, answer"),
        ("name 1", "step 'name 1': no verb 'name'; "),
        ("wait 60ms", "step 'wait 60ms': the arguments of 'wait' have to match "),
        ("wait", "step 'wait': the arguments of 'wait' have to match "),
        ("end requests", "step 'end requests': the arguments of 'end' have to match "),
        ("open 3 4 5", "step 'open 3 4 5': the arguments of 'open' have to match ''"),
        ("released", "step 'released': the arguments of 'released' have to match "),
        ("replace late", "no rule 'late'"),
    ],
)
def test_a_step_that_is_written_wrongly(script: str, problem: str) -> None:
    with pytest.raises(ValueError) as found:
        play(Stage(one_rule("drop")), script)
    assert str(found.value).startswith(problem)
