"""Read and write captures of Kafka traffic: files, TCP streams, TLS, exchanges, and checks of exchanges.

Pure logic without sockets. A capture that barnabas wrote is read like any capture of tcpdump or Wireshark;
its comments only replace what must be guessed in other captures. A packet passes these folders in order:

1. `files/` lists the captures of a folder by content and time (`capture_folder.py`; `closed_files.py` finds
   the captures that no process writes any more), detects the format, decompresses, and yields packets
   numbered as Wireshark numbers them. `open_files.py` merges several files by time.
2. `tcp/` finds the conversation of each TCP segment and puts segments in order. `fast_reassembly.py` is the
   hot path for runs of plain packets, `packets.py` reads all other packets, `through_scapy.py` tunnels and
   rare link types. A segment also waits for the bytes that its sender had acknowledged, so that a response
   never precedes its request. Bytes that never arrive become a gap.
3. `tls/` decrypts TLS connections whose keys are in a key log. The authentication tag of each record proves
   that it was decrypted correctly.
4. `kafka/` detects the protocol, cuts frames out of streams (after a gap, `frame_resync` finds the next
   frame), pairs requests with responses, and adds what messages leave out: names of topic ids, partitions of
   fetch sessions, members, transactions. The hot path pairs common frames by size, prefix and correlation id.
   Bodies are decoded on first use. `values/` decodes the keys and values of records, also by schema.
5. `checks/` reports problems in exchanges; `summary/`, `search.py` and `diff/` describe exchanges;
   `conversion/` writes them to another capture. `writing/` is the proxy's side: pcapng, rotation, masked
   secrets, and a sink that never slows traffic. `live/` is the proxy's stream in shared memory.

A proxy can write one capture in several files, called segments of the capture. Each flow keeps its addresses,
sequence numbers and connection number across segments, so the files are read like one file. In each segment,
an empty packet before the first bytes of a flow introduces the flow again. If a segment is missing, the
reader reports a gap. The writer of a segment holds a lock on it; a `*.part` file without a lock was left by a
proxy that was killed.

In code, a segment is such a file and a TCP segment is called `tcp`. `at` is a byte offset.

Limits: 1 MiB of a stream that waits for a missing TCP segment or has no handshake yet (64 MiB of all streams
without a handshake), 4 MiB of a stream whose protocol is undecided (256 MiB of all), 16 MiB of IP fragments,
16 MiB of a direction after a gap, 65,536 streams, and 10,000 requests without a response. TLS keeps one
record of each direction and 262,144 secrets; it gives up a direction after 16,384 key and record-number
combinations in a row that fail. Bodies are decoded under the proxy's budget of 64 MiB each.
"""
