"""Scenario files: YAML in; rules with conditions and faults out, or every problem with its line.

`file` reads a scenario with `yaml_lines` (values and their lines), `model` (the settings), `planned_faults`
(the faults under `do`), `contradictions` (faults of one rule that undo each other), `misfits` (values that no
message can hold) and `errors` (the texts of problems). `json_schema` is the format for editors, `completion`
the data for the page's editor, `example` an example of a setting. `draft` makes a rule from a message.
`lint/` has notes and warnings about valid scenarios.
"""
