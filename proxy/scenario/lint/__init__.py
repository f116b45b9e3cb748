"""Warnings and notes about valid scenarios; `notes` lists the checks.

- Warnings: `dead_rules` (rules that cannot fire; `unreachable_rules`: an earlier rule ends their messages),
`idle_rules` (rules that do nothing), `vain_waits` (faults that wait for a message that cannot come).
- Notes: `cautions` (strong reactions of clients), `dependence` (on other connections), `costs` (what must be
decoded).
- Advice: `reconnects`, `chance`, `one_direction` (rules that count differently than may be intended).
"""
