"""What is said of a scenario that is right; `notes` lists the checks.

Warnings: `dead_rules` (rules that can't fire; `unreached`: an earlier rule ends their messages), `idle_rules`
(rules that do nothing), `vain_waits` (faults that wait for what can't come). Notes: `cautions` (what clients
make of a fault), `dependence` (on other connections), `costs` (what must be decoded). Advice:
`again`, `chance`, `one_way` (what counts otherwise than may be meant).
"""
