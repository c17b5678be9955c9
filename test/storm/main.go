// Command storm is the fault bench: it runs the product as child processes, has
// them deliver a load to receivers that keep books, does to processes, brokers
// and receivers what happens to them in production, and counts.
//
//	go run ./test/storm                     every row, for as long as its claim needs
//	go run ./test/storm -short              the rows that prove something within a minute
//	go run ./test/storm -rows a,b -seed 7   some rows, with the faults of an earlier run
//	go run ./test/storm -sdks .sdk          with official SDKs among the clients of kill-intake
//	go run ./test/storm -list               what there is
//
// The stages run on an embedded broker in a process of its own, or on the one
// that KAFKA_BROKERS names, which must be the bench's alone. Each row prints one
// line of figures. The exit code is 1 when a bound did not hold or when fewer
// faults happened than a row claims: a run without faults proves nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/clientfaults/foes"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "storm: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == lab.BrokerCommand {
		return lab.RunBroker(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == foes.Command {
		return foes.Run(ctx, args[1:], os.Stdout)
	}
	o, err := parseOptions(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil || o.list {
		return err
	}
	if o.bench.Dir, err = os.MkdirTemp("", "anabranch-storm-"); err != nil {
		return err
	}
	if o.bench.Binary, err = child.Build(ctx, o.bench.Dir); err != nil {
		return err
	}
	results, err := runRows(ctx, &o.bench, o.rows)
	if err = errors.Join(err, o.writeMarkdown(results)); err != nil {
		return fmt.Errorf("%w (the processes' logs are in %s)", err, o.bench.Dir)
	}
	return os.RemoveAll(o.bench.Dir)
}

// options are what the command line says.
type options struct {
	bench    lab.Bench
	rows     []lab.Row
	list     bool
	markdown string
	names    string // of the rows, as they were given
}

// command is the one that makes the same faults again.
func (o *options) command() string {
	text := "go run ./test/storm"
	if o.bench.Short {
		text += " -short"
	}
	if o.names != "" {
		text += " -rows " + o.names
	}
	if o.bench.Old != "" {
		text += " -old " + o.bench.Old
	}
	if o.bench.SDKs != "" {
		text += " -sdks " + o.bench.SDKs
	}
	return text + " -seed " + strconv.FormatUint(o.bench.Seed, 10)
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("storm", flag.ContinueOnError)
	flags.StringVar(&o.names, "rows", "", "comma-separated names of rows; empty: all")
	flags.BoolVar(&o.list, "list", false, "list the rows")
	flags.BoolVar(&o.bench.Short, "short", false, "the short form, of the rows that have one unless -rows says which")
	flags.Uint64Var(&o.bench.Seed, "seed", uint64(time.Now().UnixNano())%1_000_000, "of the fault plan")
	flags.StringVar(&o.bench.Brokers, "brokers", os.Getenv("KAFKA_BROKERS"), "brokers to use instead of an embedded one; they must be the bench's alone")
	flags.StringVar(&o.bench.BrokerPID, "broker-pid", "", "file with the process id of that broker, for rows that hold it up")
	flags.StringVar(&o.bench.BrokerStart, "broker-start", "", "shell command that starts that broker again, for rows that kill it")
	flags.StringVar(&o.bench.Old, "old", "", "binary of the version before, for rows about upgrades")
	flags.StringVar(&o.bench.SDKs, "sdks", "", `cache into which "make sdk-test" has installed SDKs, for rows that use them`)
	flags.StringVar(&o.markdown, "markdown", "", "file to append the table to")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.rows, err = selectRows(o.names, o.bench.Short); err != nil {
		return o, err
	}
	if o.list {
		for _, r := range o.rows {
			fmt.Printf("%-24s %s\n", r.Name, r.About)
		}
	}
	return o, nil
}

// runRows runs the rows one after the other. One that fails does not keep the
// others from showing what they have to show.
func runRows(ctx context.Context, b *lab.Bench, all []lab.Row) ([]*report.Result, error) {
	var results []*report.Result
	var failed []string
	for _, r := range all {
		if missing := b.Missing(r); missing != "" {
			fmt.Printf("%s: left out, it needs %s\n", r.Name, missing)
			continue
		}
		result, err := runRow(ctx, b, r)
		if ctx.Err() != nil {
			return results, context.Cause(ctx)
		}
		if err != nil {
			fmt.Printf("%s: FAILED: %v\n", r.Name, err)
		} else {
			results = append(results, result)
		}
		if err != nil || len(result.Broken) > 0 {
			failed = append(failed, r.Name)
		}
	}
	if len(failed) > 0 {
		return results, fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	return results, nil
}

// runRow runs one row and prints its line.
func runRow(ctx context.Context, b *lab.Bench, r lab.Row) (*report.Result, error) {
	began := time.Now()
	result, err := b.Run(ctx, r)
	if err != nil {
		return nil, err
	}
	result.Note("took %s", time.Since(began).Round(time.Second))
	return result, report.Print(os.Stdout, result)
}

// writeMarkdown appends the table to the file that was asked for.
func (o *options) writeMarkdown(results []*report.Result) error {
	if o.markdown == "" || len(results) == 0 {
		return nil
	}
	f, err := os.OpenFile(o.markdown, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // a document, at the path the user gave
	if err != nil {
		return err
	}
	broker := "Embedded broker"
	if o.bench.Brokers != "" {
		broker = "Apache Kafka"
	}
	origin := report.Origin{
		When: time.Now(), Machine: machine(), Broker: broker, Seed: o.bench.Seed,
		Command: o.command(),
	}
	return errors.Join(report.Markdown(f, origin, results), f.Close())
}

func machine() string {
	kernel, err := os.ReadFile(filepath.Join("/proc/sys/kernel", "osrelease"))
	if err != nil {
		kernel = []byte("unknown")
	}
	return fmt.Sprintf("%d cores, %s %s, %s", runtime.NumCPU(), runtime.GOOS, strings.TrimSpace(string(kernel)), runtime.Version())
}
