"""TCP out of packets: headers, fragments, reassembly and its gaps; and headers to write."""
