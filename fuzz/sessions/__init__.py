"""Valid exchanges that bring a connection into a state in which a malformed frame means something."""
