// The workload of franz-go's administrator, in requests: the client has no other calls for it.
package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func administer(w *work) error {
	client, err := w.client(kgo.ClientID("admin"))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), w.patience)
	defer cancel()
	return w.administer(administrator{
		create: func(topic string) error {
			created := kmsg.NewCreateTopicsRequestTopic()
			created.Topic, created.NumPartitions, created.ReplicationFactor = topic, 2, 1
			request := kmsg.NewPtrCreateTopicsRequest()
			request.Topics = append(request.Topics, created)
			response, err := request.RequestWith(ctx, client)
			if err != nil {
				return err
			}
			return kerr.ErrorForCode(response.Topics[0].ErrorCode)
		},
		increase: func(topic string) error {
			increased := kmsg.NewCreatePartitionsRequestTopic()
			increased.Topic, increased.Count = topic, 3
			request := kmsg.NewPtrCreatePartitionsRequest()
			request.Topics = append(request.Topics, increased)
			response, err := request.RequestWith(ctx, client)
			if err != nil {
				return err
			}
			return kerr.ErrorForCode(response.Topics[0].ErrorCode)
		},
		change: func(topic string) error {
			value := retention
			config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
			config.Name, config.Op, config.Value = "retention.ms", kmsg.IncrementalAlterConfigOpSet, &value
			resource := kmsg.NewIncrementalAlterConfigsRequestResource()
			resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, topic
			resource.Configs = append(resource.Configs, config)
			request := kmsg.NewPtrIncrementalAlterConfigsRequest()
			request.Resources = append(request.Resources, resource)
			response, err := request.RequestWith(ctx, client)
			if err != nil {
				return err
			}
			return kerr.ErrorForCode(response.Resources[0].ErrorCode)
		},
		retention: func(topic string) (string, error) {
			resource := kmsg.NewDescribeConfigsRequestResource()
			resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, topic
			request := kmsg.NewPtrDescribeConfigsRequest()
			request.Resources = append(request.Resources, resource)
			response, err := request.RequestWith(ctx, client)
			if err != nil {
				return "", err
			}
			for _, config := range response.Resources[0].Configs {
				if config.Name == "retention.ms" && config.Value != nil {
					return *config.Value, nil
				}
			}
			if err := kerr.ErrorForCode(response.Resources[0].ErrorCode); err != kerr.UnknownTopicOrPartition {
				return "", err
			}
			return "", nil // this broker does not know the topic yet
		},
		partitions: func(topic string) (int, error) {
			response, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, client) // all topics
			if err != nil {
				return 0, err
			}
			for _, described := range response.Topics {
				if described.Topic != nil && *described.Topic == topic {
					return len(described.Partitions), nil
				}
			}
			return 0, nil
		},
		remove: func(topic string) error {
			deleted := kmsg.NewDeleteTopicsRequestTopic()
			deleted.Topic = &topic
			request := kmsg.NewPtrDeleteTopicsRequest()
			request.TopicNames, request.Topics = []string{topic}, append(request.Topics, deleted) // older versions, newer versions
			response, err := request.RequestWith(ctx, client)
			if err != nil {
				return err
			}
			return kerr.ErrorForCode(response.Topics[0].ErrorCode)
		},
	})
}
