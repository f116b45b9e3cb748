//go:build !v1.61

package main

import "github.com/IBM/sarama"

func cooperativeStrategies() []sarama.BalanceStrategy { return nil }
