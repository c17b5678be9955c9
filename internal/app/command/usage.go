package command

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/anabranch/anabranch/internal/app/settings"
)

// about is what a person reads before the flags of a command.
type about struct{ synopsis, text string }

// abouts knows the commands by the names of their flag sets.
func abouts() map[string]about {
	const idsAndFilters = "ID... | --destination D | --reason R | --since T | --all"
	return map[string]about{
		"apply": {
			"apply -f FILE [--dry-run]",
			"Puts a workspace file in force and prints what changed. A file with mistakes changes\nnothing; all of them are listed, with line and path.",
		},
		"receive": {
			"receive [--addr A] [--secret S]",
			"Runs a webhook receiver that checks the signature of each delivery and prints it.",
		},
		"status": {
			"status [--json] [--since T]",
			"Shows what runs, what waits for each destination and since when, what fails, what was\ngiven up, and what to do about it. It asks the brokers alone and changes nothing. The\nexit code is 0 whatever waits, and 1 when no broker answers within 10s.",
		},
		"doctor": {
			"doctor [--json] [--stage S]",
			"Looks for what keeps the pipeline from working: brokers and the addresses they\nadvertise, versions, permissions, topics, groups, clocks, limits of this machine,\nsettings, the workspace. It changes nothing. The exit code is 1 when there is a\nproblem, and 0 when there are warnings alone.",
		},
		"healthcheck": {
			"healthcheck [--url URL]",
			"Asks a running process whether it is ready, for container engines: the exit code is 0\nif it is.",
		},
		"dead-letters list": {
			"dead-letters list [--json] [--destination D] [--reason R] [--since T]",
			"Shows what could not be delivered, and how much by destination and reason.",
		},
		"dead-letters show": {
			"dead-letters show [--json] ID",
			"Shows all that is known of one dead letter, and its event.",
		},
		"dead-letters redrive": {
			"dead-letters redrive " + idsAndFilters + "\n                                 [--rate N] [--dry-run] [--again]",
			"Sends dead letters again, as fresh events with their messageId. What it has sent it\ndoes not send again: one that was interrupted is simply started anew.",
		},
	}
}

// usage is the help of a command: what it does, and its flags.
func usage(flags *flag.FlagSet) string {
	var b strings.Builder
	a := abouts()[flags.Name()]
	fmt.Fprintf(&b, "Usage: anabranch %s\n\n%s\n", a.synopsis, a.text)
	title := "\nFlags:\n"
	flags.VisitAll(func(f *flag.Flag) {
		b.WriteString(title)
		title = ""
		fmt.Fprintf(&b, "  --%-12s %s%s\n", f.Name, f.Usage, usual(f))
	})
	b.WriteString("\nSettings are environment variables: see `anabranch help config`.\n")
	return b.String()
}

// usual names the default of a flag that has one worth a word.
func usual(f *flag.Flag) string {
	if f.DefValue == "" || f.DefValue == "false" || strings.Contains(f.Usage, "default") {
		return ""
	}
	return " (default " + f.DefValue + ")"
}

// parse reads flags. Asked for help it prints that and returns flag.ErrHelp; other
// errors are a line each.
func parse(flags *flag.FlagSet, args []string, streams settings.Streams) error {
	flags.SetOutput(new(strings.Builder))
	flags.Usage = func() {}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return errors.Join(err, streams.Print(usage(flags)))
	case err != nil:
		return fmt.Errorf("%s: %w: see `anabranch %s -h`", flags.Name(), err, flags.Name())
	}
	return nil
}
