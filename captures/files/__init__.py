"""Capture files of any origin: pcap, pcapng, compressed ones, folders; and files only their owner reads."""
