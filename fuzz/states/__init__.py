"""Valid requests in wrong states: state machines of brokers, learned (active automata learning) and checked.

`learner` sends a broker sequences of an alphabet's inputs until a Mealy machine explains all outputs; each
input is sent in each state. `deviations` compares the machine with the tables of `specs.groups`, and two
brokers' machines with each other. An alphabet is one small file and one line in `registry`. `clients` are
learned the other way round: by the responses that they get.
"""
