package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/anabranch/anabranch/test/composetest/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "composetest: %v\n", err)
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	steps   []step
	list    bool
	compose string
	collect string
	rate    int
	// hold is how long the load goes on before and after what a step does, patience
	// how long what is then still on its way may take: the partitions of a member
	// that was killed rest until its session has ended.
	hold, patience time.Duration
}

func parseOptions(args []string, out io.Writer) (options, error) {
	var o options
	var names string
	flags := flag.NewFlagSet("composetest", flag.ContinueOnError)
	flags.StringVar(&names, "steps", "", "comma-separated names of steps; empty: all")
	flags.BoolVar(&o.list, "list", false, "list the steps")
	flags.StringVar(&o.compose, "compose", "", `how Compose is called; empty: "docker compose", else "docker-compose"`)
	flags.StringVar(&o.collect, "collect", "http://127.0.0.1:8080", "where the collection API is reached")
	flags.IntVar(&o.rate, "rate", 50, "calls a second")
	flags.DurationVar(&o.hold, "hold", 3*time.Second, "how long the load goes on before and after what a step does")
	flags.DurationVar(&o.patience, "patience", 2*time.Minute, "how long calls may take to arrive")
	err := flags.Parse(args)
	if err == nil {
		o.steps, err = selectSteps(names)
	}
	if err == nil && o.list {
		for _, s := range o.steps {
			_, _ = fmt.Fprintf(out, "%-16s %s\n", s.name, s.about)
		}
	}
	return o, err
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parseOptions(args, out)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil || o.list {
		return err
	}
	dir, err := os.MkdirTemp("", "anabranch-composetest-")
	if err != nil {
		return err
	}
	if err = runIn(ctx, dir, &o, out); err != nil {
		return fmt.Errorf("%w (what Compose and the services said is in %s)", err, dir)
	}
	return os.RemoveAll(dir)
}

// runIn runs the steps with a log in dir, whose name is the project's.
func runIn(ctx context.Context, dir string, o *options, out io.Writer) (err error) {
	log, err := os.Create(filepath.Join(dir, "log")) //nolint:gosec // in a directory of our own
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	s, err := stack.Open(ctx, filepath.Base(dir), o.compose, log)
	if err != nil {
		return err
	}
	return newTest(s, o, out).run(ctx)
}
