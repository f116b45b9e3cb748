"""What brokers of the designs share: logs of records, a registry on ZooKeeper, processes; see README.md."""
