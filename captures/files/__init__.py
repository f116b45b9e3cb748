"""Read capture files of any origin: pcap, pcapng, compressed, in folders; write private files."""
