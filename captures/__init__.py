"""What passed: capture files, reassembly, exchanges (files and pure logic, no sockets)."""
