// The workload of sarama's administrator.
package main

import "github.com/IBM/sarama"

func administer(w *work) error {
	a, err := sarama.NewClusterAdmin(w.bootstrap, settings(w, "admin"))
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }()
	value := retention
	return w.administer(administrator{
		create: func(topic string) error {
			return a.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: 2, ReplicationFactor: 1}, false)
		},
		increase: func(topic string) error { return a.CreatePartitions(topic, 3, nil, false) },
		change: func(topic string) error {
			return a.AlterConfig(sarama.TopicResource, topic, map[string]*string{"retention.ms": &value}, false)
		},
		remove: a.DeleteTopic,
		partitions: func(topic string) (int, error) {
			topics, err := a.ListTopics()
			return int(topics[topic].NumPartitions), err
		},
		retention: func(topic string) (string, error) {
			topics, err := a.ListTopics()
			if value := topics[topic].ConfigEntries["retention.ms"]; value != nil {
				return *value, err
			}
			return "", err
		},
	})
}
