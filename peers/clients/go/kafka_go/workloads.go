// Workloads of segmentio's kafka-go, which has no idempotent or transactional producer.
package main

var workloads = map[string]workload{
	"produce":    sendAll,
	"compressed": sendCompressed,
	"assign":     readPartitions,
	"group":      readInGroup,
	"admin":      administer,
}
