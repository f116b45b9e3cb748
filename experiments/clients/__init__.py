"""Which client does what under which fault: workloads of clients under scenarios, judged.

`workloads.py` says what a client does and promises, `running.py` runs its program once, `trial.py` does that
behind a proxy under a scenario and gathers what is known of it then, `verdict.py` is the judgement, a pure
function of that. `settings.py` says what a client asked with, `meeting.py` whether a scenario can have
anything to do with that, and `cutting.py` makes scenarios that cut connections at what it asked. `cell.py` is
a client's workload under a scenario: several trials with other seeds, beside those without any fault.
`matrix.py` runs cells side by side, `folder.py` keeps each one that is over, `wording.py` says what is known
of one, and `table.py` and `page.py` make of all a table.
"""
