//go:build !v1.16

package main

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kversion"
)

// Return the versions of brokers without ApiVersions; franz-go asks all others.
func versionsOf(broker string) *kversion.Versions {
	switch {
	case strings.HasPrefix(broker, "0.8.0"):
		return kversion.V0_8_0()
	case strings.HasPrefix(broker, "0.8.1"):
		return kversion.V0_8_1()
	case strings.HasPrefix(broker, "0.8"):
		return kversion.V0_8_2()
	case strings.HasPrefix(broker, "0.9"):
		return kversion.V0_9_0()
	}
	return kversion.Stable()
}
