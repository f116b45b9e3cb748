// The workload of kafka-go's administrator.
package main

import (
	"context"
	"errors"
	"time"

	kafka "github.com/segmentio/kafka-go"
)

func administer(w *work) error {
	// else it repeats earlier responses for 6 s
	shared := &kafka.Transport{ClientID: "admin", MetadataTTL: 100 * time.Millisecond}
	defer shared.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(w.bootstrap...), Transport: shared}
	ctx, cancel := context.WithTimeout(context.Background(), w.patience)
	defer cancel()
	return w.administer(administrator{
		create: func(topic string) error {
			config := kafka.TopicConfig{Topic: topic, NumPartitions: 2, ReplicationFactor: 1}
			response, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{config}})
			if err != nil {
				return err
			}
			return response.Errors[topic]
		},
		increase: func(topic string) error {
			config := kafka.TopicPartitionsConfig{Name: topic, Count: 3}
			response, err := client.CreatePartitions(ctx, &kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{config}})
			if err != nil {
				return err
			}
			return response.Errors[topic]
		},
		change: func(topic string) error {
			resource := kafka.AlterConfigRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
				Configs: []kafka.AlterConfigRequestConfig{{Name: "retention.ms", Value: retention}}}
			response, err := client.AlterConfigs(ctx, &kafka.AlterConfigsRequest{Resources: []kafka.AlterConfigRequestResource{resource}})
			if err != nil {
				return err
			}
			for _, problem := range response.Errors {
				if problem != nil {
					return problem
				}
			}
			return nil
		},
		retention: func(topic string) (string, error) {
			resource := kafka.DescribeConfigRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
				ConfigNames: []string{"retention.ms"}}
			response, err := client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{resource}})
			if err != nil {
				return "", err
			}
			for _, entry := range response.Resources[0].ConfigEntries {
				if entry.ConfigName == "retention.ms" {
					return entry.ConfigValue, nil
				}
			}
			if err := response.Resources[0].Error; !errors.Is(err, kafka.UnknownTopicOrPartition) {
				return "", err
			}
			return "", nil // this broker does not know the topic yet
		},
		partitions: func(topic string) (int, error) {
			response, err := client.Metadata(ctx, &kafka.MetadataRequest{}) // all topics
			if err != nil {
				return 0, err
			}
			for _, described := range response.Topics {
				if described.Name == topic {
					return len(described.Partitions), nil
				}
			}
			return 0, nil
		},
		remove: func(topic string) error {
			response, err := client.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{topic}})
			if err != nil {
				return err
			}
			return response.Errors[topic]
		},
	})
}
