// Workloads of sarama.
package main

import "github.com/IBM/sarama"

var workloads = map[string]workload{
	"produce":            sendAll,
	"idempotent":         sendOnce,
	"transact":           transactAll,
	"read-process-write": copyAll,
	"assign":             readPartitions,
	"group":              readInGroup,
	"admin":              administer,
}

func settings(clientID string) *sarama.Config {
	c := sarama.NewConfig()
	c.ClientID = clientID
	c.Producer.Return.Successes = true
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	c.Consumer.Offsets.AutoCommit.Enable = false
	return c
}
