"""A release of Apache Kafka beside our declarations, and the reference data that its classes write."""
