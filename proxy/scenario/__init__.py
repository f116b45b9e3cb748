"""Scenario files: YAML in; rules with conditions and faults out, or every problem with its line.

`file` reads one: `yaml_lines` (values and their lines), `model` (what a scenario says), `planned` (the
faults under `do`), `contradictions` (faults of one rule that undo each other), `errors` (problems in words).
`json_schema` is the format for editors, `lint/` what is said of a scenario that is right.
"""
