package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/test/storm/child"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "largetest: %v\n", err)
		os.Exit(1)
	}
}

// size is how much is put into the brokers.
type size struct{ destinations, letters, users, calls int }

// lab is where the product runs.
type lab struct {
	size

	brokers string
	dir     string // of the process
	program string // path of the product
	client  *kgo.Client
	only    string // what the names of pages and commands hold that are asked
	run     string // id of the replay
}

func run(ctx context.Context, args []string) error {
	var l lab
	var fill, ask bool
	flags := flag.NewFlagSet("largetest", flag.ContinueOnError)
	flags.IntVar(&l.destinations, "destinations", 10_000, "how many destinations there are")
	flags.IntVar(&l.letters, "letters", 1_000_000, "how many dead letters")
	flags.IntVar(&l.users, "users", 1_000_000, "how many users personas knows")
	flags.IntVar(&l.calls, "calls", 1_000_000, "how many calls raw-events has")
	flags.BoolVar(&fill, "fill", true, "fill the brokers, which must hold nothing of the product")
	flags.BoolVar(&ask, "ask", true, "ask the pages and commands")
	flags.StringVar(&l.only, "only", "", "ask only pages and commands whose names hold this")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if l.brokers = os.Getenv("KAFKA_BROKERS"); l.brokers == "" {
		return errors.New("KAFKA_BROKERS is not set: `make console-figures` starts a broker and sets it")
	}
	var err error
	if l.dir, err = os.MkdirTemp("", "anabranch-largetest-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(l.dir) }()
	if l.program, err = child.Build(ctx, l.dir); err != nil {
		return err
	}
	if l.client, err = kgo.NewClient(
		kgo.SeedBrokers(strings.Split(l.brokers, ",")...), kgo.MaxBufferedRecords(100_000), kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)),
	); err != nil {
		return err
	}
	defer l.client.Close()
	if fill {
		if err = l.fill(ctx); err != nil {
			return fmt.Errorf("fill the brokers: %w", err)
		}
	}
	if ask {
		return l.ask(ctx)
	}
	return nil
}

// env is what every process of the product is told.
func (l *lab) env() []string {
	return []string{"KAFKA_BROKERS=" + l.brokers, "DATA_DIR=" + l.dir, "INGEST_ADDR=127.0.0.1:0", "INSTANCE_ID=largetest", "PERSONAS_STORE=memory"}
}

// process is a stage that runs until it is stopped.
func (l *lab) process(ctx context.Context, stage string) (*child.Process, error) {
	admin, err := child.FreeAddr()
	if err != nil {
		return nil, err
	}
	p := &child.Process{Name: stage, Path: l.program, Args: []string{stage}, Env: l.env(), Admin: admin, Log: filepath.Join(l.dir, stage+".log")}
	if err = p.Launch(ctx); err != nil {
		said, _ := os.ReadFile(p.Log)
		err = fmt.Errorf("%w\n%s", err, said)
	}
	return p, err
}
