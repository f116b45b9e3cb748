"""The table of clients: workloads of client libraries under scenarios, and verdicts on them.

`workloads.py` lists the workloads and their promises. `runs.py` runs a client's program once; `trial.py` does
so behind a proxy under a scenario and collects the evidence; `verdict.py` is a pure function of the evidence.
`settings.py` reads the client's settings from its requests, `relevance.py` decides whether a scenario can
affect these requests, and `cut_scenarios.py` makes scenarios that cut connections at them. A cell (`cell.py`)
is a client's workload under a scenario: several trials with different seeds, compared with trials without
faults. `matrix.py` runs cells concurrently, `folder.py` keeps their results, `wording.py` describes a cell,
`table.py`, `page.py` and `timeline.py` write all cells for people.
"""
