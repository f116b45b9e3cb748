"""Scenario files: YAML in; rules with conditions and faults out, or every problem with its line.

`file` reads one: `yaml_lines` (values and their lines), `model` (what a scenario says), `planned` (the
faults under `do`), `contradictions` (faults of one rule that undo each other), `errors` (problems in words).
`json_schema` is the format for editors, `completion` what the page's editor completes from, `draft` makes a
rule of a message, `lint/` says what is to be said of a scenario that is right.
"""
