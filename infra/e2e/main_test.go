package main

import (
	"fmt"
	"os"
	"testing"
)

// programs builds for all tests; what one has built the others use.
var programs *builder

func TestMain(m *testing.M) { os.Exit(withPrograms(m)) }

func withPrograms(m *testing.M) int {
	dir, err := os.MkdirTemp("", "aac-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if programs, err = newBuilder("../..", dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
