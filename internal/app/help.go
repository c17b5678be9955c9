package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/internal/app/command"
	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/workspace/wsschema"
)

const usage = `Anabranch: calls about users in over HTTP, through Kafka, out as signed webhooks.

  anabranch run                             every stage in one process, with an embedded broker unless KAFKA_BROKERS is set
  anabranch ingest|router|webhook-sink      one stage, against KAFKA_BROKERS
  anabranch apply -f FILE [--dry-run]       put a workspace file in force
  anabranch receive [--addr A] [--secret S] a webhook receiver that verifies and prints each delivery
  anabranch status [--json]                 what runs, what waits, what fails, and what to do about it
  anabranch doctor [--json]                 what keeps it from working: brokers, permissions, topics, this machine
  anabranch dead-letters list|show|redrive  what could not be delivered, and sending it again
  anabranch healthcheck                     whether the process beside it is ready, for container engines
  anabranch version
  anabranch help [COMMAND|config|workspace] this text, that of a command, every setting with its default, or every
                                            key of the workspace file
`

// help prints the general text, the settings, the keys of the workspace file, or what
// there is to know of one command.
func help(ctx context.Context, streams Streams, args []string) error {
	if len(args) == 0 {
		return streams.Print(usage)
	}
	name := args[0]
	switch name {
	case "config":
		return settings.WriteReference(streams.Out)
	case "workspace":
		return wsschema.WriteReference(streams.Out)
	case "help", "version": // all there is to say of them
		return streams.Print(usage)
	}
	if do, ok := command.Named(name); ok {
		return do(ctx, append(slices.Clone(args[1:]), "-h"), streams)
	}
	if text, ok := targetTexts()[name]; ok {
		return streams.Print(fmt.Sprintf("Usage: anabranch %s\n\n%s\n\n%s\n", name, text, settingsOf(name)))
	}
	return fmt.Errorf("unknown command %q: `anabranch help` lists those there are", name)
}

// targetTexts says what each target does.
func targetTexts() map[string]string {
	return map[string]string{
		TargetRun: "Runs every stage in one process, with an embedded broker in DATA_DIR unless KAFKA_BROKERS\n" +
			"is set. WORKSPACE_FILE is applied at start and whenever it changes; without one an example\n" +
			"is in force, whose deliveries are printed.",
		"ingest": "Runs the collection API: it takes calls in over HTTP and answers 200 once the brokers have\n" +
			"them. Run as many as you like, behind one address.",
		"router": "Runs the router: it reads raw-events and writes each call to the topics of its destinations,\n" +
			"exactly once. Routers share the partitions of raw-events.",
		"webhook-sink": "Runs the webhook sink: it delivers events to the endpoints of destinations, retries for up to\n" +
			"four hours, and puts what can't be delivered into dead-letters. Sinks share the partitions.",
	}
}

// settingsOf says which settings concern a target.
func settingsOf(name string) string {
	if name == TargetRun {
		return "Settings are environment variables: see `anabranch help config`."
	}
	prefix := strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "_"
	return "It needs KAFKA_BROKERS, and INSTANCE_ID where several run on one host. Settings are\n" +
		"environment variables, its own begin with " + prefix + ": see `anabranch help config`."
}
