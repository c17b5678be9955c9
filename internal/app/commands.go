package app

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/anabranch/anabranch/internal/app/command"
	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/console"
	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/workspace/wsschema"
)

// commands is the table of what a person may type, in the order in which help shows it.
func commands(list pipeline.List) []command.Command {
	stages := list.Make()
	all := []command.Command{{
		Name:    TargetRun,
		Summary: "every stage in one process, with an embedded broker unless KAFKA_BROKERS is set",
		Help: "Runs every stage in one process, with an embedded broker in DATA_DIR unless KAFKA_BROKERS\n" +
			"is set. WORKSPACE_FILE is applied at start and whenever it changes; without one an example\n" +
			"is in force, whose deliveries are printed.",
		Settings: command.AnySettings + "\n\n" + adminPages(stages...),
		Flags:    target(TargetRun),
	}}
	for _, s := range stages {
		all = append(all, command.Command{
			Name:    s.Name,
			Summary: "one stage, against KAFKA_BROKERS",
			Help:    s.Help,
			Settings: "It needs KAFKA_BROKERS, and INSTANCE_ID where several run on one host. Settings are\n" +
				"environment variables, its own begin with " + s.Variables() + ": see `anabranch help config`.\n\n" + adminPages(s),
			Role:  s.Role(),
			Flags: target(s.Name),
		})
	}
	all = append(all, command.All(list)...)
	return append(
		all,
		command.Command{Name: "version", Flags: func(*flag.FlagSet) command.Run {
			return func(_ context.Context, program settings.Program, _ []string) error {
				return program.Print("anabranch " + version() + "\n")
			}
		}},
		command.Command{
			Name: "help", Args: "[COMMAND|config|workspace]", Operands: true,
			Summary: "this text, that of a command, every setting with its default, or every\nkey of the workspace file",
			Flags: func(*flag.FlagSet) command.Run {
				return func(_ context.Context, program settings.Program, words []string) error {
					text, err := Help(program.Stages, words...)
					if err != nil {
						return err
					}
					return program.Print(text)
				}
			},
		},
	)
}

// adminPages lists what a process with some stages has on its admin address.
func adminPages(stages ...*pipeline.Stage) string {
	pages := append(telemetry.Pages(), console.Page())
	for _, s := range stages {
		pages = append(pages, s.Pages...)
	}
	lines := make([]string, len(pages))
	for i, page := range pages {
		lines[i] = fmt.Sprintf("  %-16s %s", page.Path, page.About)
	}
	return "On ADMIN_ADDR:\n" + strings.Join(lines, "\n")
}

// target runs a target.
func target(name string) func(*flag.FlagSet) command.Run {
	return func(*flag.FlagSet) command.Run {
		return func(ctx context.Context, program settings.Program, _ []string) error {
			proc, err := program.Open()
			if err != nil {
				return err
			}
			return Run(ctx, name, proc)
		}
	}
}

// Help returns what `anabranch help` prints with the words behind it: the list of
// commands, all there is to know of one, every setting, or every key of the workspace
// file.
func Help(list pipeline.List, words ...string) (string, error) {
	if len(words) == 0 {
		return "Anabranch accepts calls about users over HTTP, routes them through Kafka, and delivers them as signed webhooks.\n\n" + command.List(commands(list)), nil
	}
	var text bytes.Buffer
	switch words[0] {
	case "config":
		err := settings.WriteReference(&text, list)
		return text.String(), err
	case "workspace":
		err := wsschema.WriteReference(&text)
		return text.String(), err
	}
	c, _, err := command.Find(commands(list), append(words, "-h"))
	if err != nil {
		return "", err
	}
	return c.Usage(), nil
}

// Roles returns what each stage and each command has to be allowed on the brokers.
func Roles(list pipeline.List) []acl.Role {
	return command.Roles(commands(list))
}
