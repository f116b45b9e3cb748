// The workload of franz-go's administrator, in requests: the client has no other calls of that kind.
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
			asked := kmsg.NewCreateTopicsRequestTopic()
			asked.Topic, asked.NumPartitions, asked.ReplicationFactor = topic, 2, 1
			request := kmsg.NewPtrCreateTopicsRequest()
			request.Topics = append(request.Topics, asked)
			told, err := request.RequestWith(ctx, client)
			if err != nil {
				return err
			}
			return kerr.ErrorForCode(told.Topics[0].ErrorCode)
		},
		increase: func(topic string) error {
			asked := kmsg.NewCreatePartitionsRequestTopic()
			asked.Topic, asked.Count = topic, 3
			request := kmsg.NewPtrCreatePartitionsRequest()
			request.Topics = append(request.Topics, asked)
			told, err := request.RequestWith(ctx, client)
			if err != nil {
				return err
			}
			return kerr.ErrorForCode(told.Topics[0].ErrorCode)
		},
		change: func(topic string) error {
			value := retention
			asked := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
			asked.Name, asked.Op, asked.Value = "retention.ms", kmsg.IncrementalAlterConfigOpSet, &value
			resource := kmsg.NewIncrementalAlterConfigsRequestResource()
			resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, topic
			resource.Configs = append(resource.Configs, asked)
			request := kmsg.NewPtrIncrementalAlterConfigsRequest()
			request.Resources = append(request.Resources, resource)
			told, err := request.RequestWith(ctx, client)
			if err != nil {
				return err
			}
			return kerr.ErrorForCode(told.Resources[0].ErrorCode)
		},
		retention: func(topic string) (string, error) {
			resource := kmsg.NewDescribeConfigsRequestResource()
			resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, topic
			request := kmsg.NewPtrDescribeConfigsRequest()
			request.Resources = append(request.Resources, resource)
			told, err := request.RequestWith(ctx, client)
			if err != nil {
				return "", err
			}
			for _, one := range told.Resources[0].Configs {
				if one.Name == "retention.ms" && one.Value != nil {
					return *one.Value, nil
				}
			}
			if err := kerr.ErrorForCode(told.Resources[0].ErrorCode); err != kerr.UnknownTopicOrPartition {
				return "", err
			}
			return "", nil // this broker does not know of it yet
		},
		partitions: func(topic string) (int, error) {
			told, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, client) // of all topics
			if err != nil {
				return 0, err
			}
			for _, one := range told.Topics {
				if one.Topic != nil && *one.Topic == topic {
					return len(one.Partitions), nil
				}
			}
			return 0, nil
		},
		remove: func(topic string) error {
			asked := kmsg.NewDeleteTopicsRequestTopic()
			asked.Topic = &topic
			request := kmsg.NewPtrDeleteTopicsRequest()
			request.TopicNames, request.Topics = []string{topic}, append(request.Topics, asked) // of older versions, and of newer ones
			told, err := request.RequestWith(ctx, client)
			if err != nil {
				return err
			}
			return kerr.ErrorForCode(told.Topics[0].ErrorCode)
		},
	})
}
