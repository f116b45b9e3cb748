"""What should never happen: malformed frames for brokers, clients and decoders, and what they make of them.

A campaign is a range of case numbers, and each case can be made again from its number; so it can be cut
into batches and shards anywhere.

- Making (`engine/making.py`): a case is a function of (seed, corpus, the round's energies, number). A frame
  is mapped once (`frame_map/`): where each field, length, count and checksum stands; what is compressed,
  twice: as a container (`specs/containers/`) and unpacked. A mutator (`mutators/`, a function and a line of
  the registry) splices bytes; what is around them is corrected, or deliberately not.
  `engine/strata.py` walks over all there is to try, so that rare fields get their turn. How a case came
  about is its recipe (`cases/`); shrinking makes smaller recipes, not smaller bytes.
- Targets (`targets/`) run cases and give an observation of each: what came back, how the connection ended,
  log, memory, death. They judge nothing. A broker's cases go over many connections; a probe comes behind
  each batch, and where it goes wrong all since the last good one are suspected and bisected, those first
  that were under way when the log said something. A client's
  case is a session with the bench's broker (`answering/`, sans-IO) with one response planted. `sessions/`
  lead a connection into a deep state.
- Oracles (`oracles/`) are pure functions of an observation, and a line each of the registry. Equal (oracle,
  behaviour) are one finding.
- Running (`engine/running.py`) is a generator of events without output, clock or database. Stats of
  batches add up in any order, so batches here and shards on Spark come to the same. Features that are new
  in a round raise the energy of their seeds for the next one; with feedback of lines, fields that no case
  has shown to be read get some, too (`engine/energy.py`).
- `database/` is a SQLite file: a batch is one transaction with the number that the campaign has come to, so
  what is interrupted goes on behind it. `shrinking/` is a greedy search that knows the schema and, of the
  target, only whether a recipe still fires. `observations/` read what an observation says: stacks, responses,
  limits of memory.
"""
