"""Extract TCP streams from packets: headers, IP fragments, reassembly and its gaps."""
