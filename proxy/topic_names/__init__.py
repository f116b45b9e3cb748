"""The names of topics that messages name by id: learnt from what passes, or asked for."""
