"""Fuzzing of Kafka brokers, clients and decoders: malformed frames, and oracles that judge the reactions.

A campaign is a range of case numbers. Each case is a function of its number, so a campaign can be cut into
batches and shards anywhere, and any case can be made again.

- A case (`engine/case_maker.py`) is a function of the seed, the corpus, the round's energies and the number.
The frame is mapped once (`frame_map/`): every field, length, count and checksum with its bytes, and also what
compressed containers (`specs/containers/`) hold. A mutator (`mutators/`: a function and a line of the
registry) splices bytes. The lengths and checksums around them are corrected, or deliberately not.
`engine/strata.py` goes through all combinations of field and mutator, so that rare fields get their turn. The
recipe (`cases/`) says how a case is made; shrinking makes recipes smaller, not bytes.
- Targets (`targets/`) run cases and return an observation of each: responses, the ending of the connection,
log, memory, the process's exit. They do not judge. A broker's cases go over many connections, and a probe
follows each batch. If the probe shows trouble, the cases since the last good probe are searched for the
culprit. A client's case is a session with the bench's broker (`bench_broker/`, sans-IO), in which one
response is the case's. `sessions/` lead a connection into the state that a case needs.
- Oracles (`oracles/`) are pure functions of an observation. Verdicts with equal oracle and behaviour are one
finding.
- The engine (`engine/rounds.py`) is a generator of events without output, clock or database. Statistics of
batches add up in any order, so batches here and shards on Spark give the same result. Features that are new
in a round raise the energy of their seeds for the next round. With line coverage as feedback, fields that no
case has shown to be read get energy, too (`engine/energy.py`).
- The database (`database/`) is a SQLite file. A batch is one transaction that also stores the campaign's next
number, so an interrupted campaign continues after its last batch. Shrinking (`shrinking/`) is a greedy search
that knows the schema, and only asks whether a recipe still fires. `observations/` reads observations: stacks,
responses, memory.
- `golden/` is no campaign: it writes frames for tests of any reader, and how Kafka's own classes read them
(`barnabas spec corpus`).
"""
