"""`barnabas conform`: conformance checks of a broker."""
