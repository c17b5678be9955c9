package app

import (
	"context"
	"runtime/debug"

	"github.com/anabranch/anabranch/internal/app/command"
	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/kafka"
)

// Streams are where the process writes.
type Streams = settings.Streams

// Main runs the command that args name. The error is for a person to read; the
// process exits with [ExitCode].
func Main(ctx context.Context, args []string, streams Streams) error {
	return execute(ctx, args, settings.Program{Streams: streams, Stages: Stages()})
}

// ExitCode is what the process ends with after an error of [Main].
func ExitCode(err error) int { return command.ExitCode(err) }

func execute(ctx context.Context, args []string, program settings.Program) error {
	name := "help"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "--version":
		name = "version"
	}
	c, rest, err := command.Find(commands(program.Stages), append([]string{name}, args...))
	if err != nil {
		return err
	}
	return kafka.Advised(c.Do(ctx, program, rest))
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
