package app

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/anabranch/anabranch/internal/app/command"
	"github.com/anabranch/anabranch/internal/app/settings"
)

// Streams are where the process writes.
type Streams = settings.Streams

const usage = `Anabranch: calls about users in over HTTP, through Kafka, out as signed webhooks.

  anabranch run                             every stage in one process, with an embedded broker unless KAFKA_BROKERS is set
  anabranch ingest|router|webhook-sink      one stage, against KAFKA_BROKERS
  anabranch apply -f FILE [--dry-run]       put a workspace file in force
  anabranch receive [--addr A] [--secret S] a webhook receiver that verifies and prints each delivery
  anabranch dead-letters list|show|redrive  what could not be delivered, and sending it again
  anabranch version
  anabranch help [config]                   this text, or every setting with its default
`

// Main runs the command that args name. The error is for a person to read; the
// process exits with 1.
func Main(ctx context.Context, args []string, streams Streams) error {
	name := "help"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "help", "-h", "--help":
		return help(streams, args)
	case "version", "--version":
		return streams.Print("anabranch " + version() + "\n")
	}
	if do, ok := command.Named(name); ok {
		return do(ctx, args, streams)
	}
	if !slices.Contains(Targets(), name) {
		return fmt.Errorf("unknown command %q: `anabranch help` lists those there are", name)
	}
	if len(args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
		return help(streams, nil)
	}
	if len(args) > 0 {
		return fmt.Errorf("%s: unexpected argument %q: settings are environment variables, see `anabranch help config`", name, args[0])
	}
	proc, err := settings.Open(streams)
	if err != nil {
		return err
	}
	return Run(ctx, name, proc)
}

func help(streams Streams, args []string) error {
	if len(args) > 0 && args[0] == "config" {
		return settings.WriteReference(streams.Out)
	}
	return streams.Print(usage)
}

// version is what the build recorded about its origin.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
