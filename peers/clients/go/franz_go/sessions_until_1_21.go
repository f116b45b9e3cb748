//go:build !v1.22

package main

import "github.com/twmb/franz-go/pkg/kgo"

func serverSide() []kgo.Opt { return nil }
