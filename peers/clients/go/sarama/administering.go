// The workload of sarama's administrator.
package main

import (
	"errors"

	"github.com/IBM/sarama"
)

func administer(w *work) error {
	a, err := sarama.NewClusterAdmin([]string{w.bootstrap}, settings("admin"))
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
			found, err := a.DescribeTopics(nil) // all
			for _, one := range found {
				if one.Name == topic {
					return len(one.Partitions), err
				}
			}
			return 0, err
		},
		retention: func(topic string) (string, error) {
			found, err := a.DescribeConfig(sarama.ConfigResource{Type: sarama.TopicResource, Name: topic, ConfigNames: []string{"retention.ms"}})
			var refused *sarama.DescribeConfigError
			if errors.As(err, &refused) && refused.Err == sarama.ErrUnknownTopicOrPartition {
				return "", nil // this broker does not know of it yet
			}
			for _, one := range found {
				if one.Name == "retention.ms" {
					return one.Value, err
				}
			}
			return "", err
		},
	})
}
