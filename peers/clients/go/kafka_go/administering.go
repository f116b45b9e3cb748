// The workload of kafka-go's administrator.
package main

import (
	"context"
	"errors"
	"time"

	kafka "github.com/segmentio/kafka-go"
)

func administer(w *work) error {
	// else it answers for 6 s what it was told before
	shared := &kafka.Transport{ClientID: "admin", MetadataTTL: 100 * time.Millisecond}
	defer shared.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(w.bootstrap...), Transport: shared}
	ctx, cancel := context.WithTimeout(context.Background(), w.patience)
	defer cancel()
	return w.administer(administrator{
		create: func(topic string) error {
			asked := kafka.TopicConfig{Topic: topic, NumPartitions: 2, ReplicationFactor: 1}
			told, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{asked}})
			if err != nil {
				return err
			}
			return told.Errors[topic]
		},
		increase: func(topic string) error {
			asked := kafka.TopicPartitionsConfig{Name: topic, Count: 3}
			told, err := client.CreatePartitions(ctx, &kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{asked}})
			if err != nil {
				return err
			}
			return told.Errors[topic]
		},
		change: func(topic string) error {
			about := kafka.AlterConfigRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
				Configs: []kafka.AlterConfigRequestConfig{{Name: "retention.ms", Value: retention}}}
			told, err := client.AlterConfigs(ctx, &kafka.AlterConfigsRequest{Resources: []kafka.AlterConfigRequestResource{about}})
			if err != nil {
				return err
			}
			for _, problem := range told.Errors {
				if problem != nil {
					return problem
				}
			}
			return nil
		},
		retention: func(topic string) (string, error) {
			about := kafka.DescribeConfigRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
				ConfigNames: []string{"retention.ms"}}
			told, err := client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{about}})
			if err != nil {
				return "", err
			}
			for _, one := range told.Resources[0].ConfigEntries {
				if one.ConfigName == "retention.ms" {
					return one.ConfigValue, nil
				}
			}
			if err := told.Resources[0].Error; !errors.Is(err, kafka.UnknownTopicOrPartition) {
				return "", err
			}
			return "", nil // this broker does not know of it yet
		},
		partitions: func(topic string) (int, error) {
			told, err := client.Metadata(ctx, &kafka.MetadataRequest{}) // of all topics
			if err != nil {
				return 0, err
			}
			for _, one := range told.Topics {
				if one.Name == topic {
					return len(one.Partitions), nil
				}
			}
			return 0, nil
		},
		remove: func(topic string) error {
			told, err := client.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{topic}})
			if err != nil {
				return err
			}
			return told.Errors[topic]
		},
	})
}
