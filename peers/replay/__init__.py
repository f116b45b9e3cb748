"""The clients of a capture: their recorded requests are sent to a live cluster.

`plan` decides which requests are sent, `order` in which order, `topics` what the live cluster lacks.
`translation` replaces recorded values by those of the live cluster: ids (`identities`, `offsets`, `batches`),
versions (`versions`) and leaders of groups (`generations`); `sessions` does so for fetch sessions. `routing`
and `cluster` find the broker for a request, `connection` carries it, `player` runs all steps in turn, and
`outcome` compares the responses. `as_pytest` writes a few exchanges as a test that uses the same steps.
"""
