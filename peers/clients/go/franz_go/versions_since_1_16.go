//go:build v1.16

package main

import "github.com/twmb/franz-go/pkg/kversion"

func versionsOf(broker string) *kversion.Versions { return kversion.FromString(broker) }
