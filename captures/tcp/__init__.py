"""TCP out of packets: headers, fragments, reassembly, and what is missing; synthesised the other way round."""
