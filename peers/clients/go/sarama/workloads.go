// Workloads of sarama.
package main

import "github.com/IBM/sarama"

var workloads = map[string]workload{
	"produce":            sendAll,
	"idempotent":         sendOnce,
	"compressed":         sendCompressed,
	"transact":           transactAll,
	"read-process-write": copyAll,
	"assign":             readPartitions,
	"group":              readInGroup,
	"admin":              administer,
}

func settings(w *work, clientID string) *sarama.Config {
	c := sarama.NewConfig()
	if version, err := sarama.ParseKafkaVersion(w.broker); err == nil {
		c.Version, c.ApiVersionsRequest = version, version.IsAtLeast(sarama.V0_10_0_0)
	}
	c.ClientID = clientID
	c.Producer.Return.Successes = true
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	c.Consumer.Offsets.AutoCommit.Enable = false
	return c
}
