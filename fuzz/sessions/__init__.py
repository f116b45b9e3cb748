"""Sessions: valid requests that bring a connection into the state that a malformed frame needs."""
