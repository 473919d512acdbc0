// A client of the Kubernetes API as programs in Go have it: with Go's types, and protobuf on the wire.
//
// Usage: typed-client fields             prints the fields of the messages that the embedded API reads
//
//	typed-client write KUBECONFIG   writes and deletes one full object of each type; prints what was lost, as JSON
//	typed-client elect KUBECONFIG   is elected leader, holds on for two renewals, and lets go
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "fields":
		table, err := fields()
		if err != nil {
			return err
		}
		return show(table)
	case len(args) == 2 && args[0] == "write":
		lost, err := write(args[1])
		if err != nil {
			return err
		}
		return show(lost)
	case len(args) == 2 && args[0] == "elect":
		return elect(args[1])
	default:
		return fmt.Errorf("usage: typed-client fields | write KUBECONFIG | elect KUBECONFIG")
	}
}

func show(value any) error {
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
