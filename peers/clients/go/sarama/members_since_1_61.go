//go:build v1.61

package main

import "github.com/IBM/sarama"

// Return the strategies of cooperative rebalances, which sarama has since 1.61.
func cooperativeStrategies() []sarama.BalanceStrategy {
	return []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky()}
}
