package app

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/anabranch/anabranch/internal/app/command"
	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/kafka"
)

// Streams are where the process writes.
type Streams = settings.Streams

// Main runs the command that args name. The error is for a person to read; the
// process exits with 1.
func Main(ctx context.Context, args []string, streams Streams) error {
	name := "help"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "help", "-h", "--help":
		return help(ctx, streams, args)
	case "version", "--version":
		return streams.Print("anabranch " + version() + "\n")
	}
	if do, ok := command.Named(name); ok {
		return kafka.Advised(do(ctx, args, streams))
	}
	if !slices.Contains(Targets(), name) {
		return fmt.Errorf("unknown command %q: `anabranch help` lists those there are", name)
	}
	if len(args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
		return help(ctx, streams, []string{name})
	}
	if len(args) > 0 {
		return fmt.Errorf("%s: unexpected argument %q: settings are environment variables, see `anabranch help config`", name, args[0])
	}
	proc, err := settings.Open(streams)
	if err != nil {
		return err
	}
	return kafka.Advised(Run(ctx, name, proc))
}

// release is the version that an image is given as it is built (Dockerfile): there is
// no history in there from which Go could tell it.
var release string

// version is the release, else what the build recorded about its origin.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
