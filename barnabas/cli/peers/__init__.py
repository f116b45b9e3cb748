"""`barnabas peers`: brokers for trials, embedded, Apache Kafka's, or added by packages."""
