"""Valid requests in wrong states: a broker's state machines, learned (active automata learning) and judged.

`learning` asks a broker sequences of an alphabet's inputs until a Mealy machine explains all answers; each
input is sent in each of its states. `judging` holds it against the tables of `specs.groups`, and two brokers'
machines against each other. An alphabet is one small file and one line in `registry`. `clients` are learned
the other way about: by the answers that they get.
"""
