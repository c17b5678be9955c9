// Command crashtest kills Anabranch with kill -9 again and again while it
// works, and then counts: what was accepted must have been delivered or stand
// in dead-letters.
//
//	go run ./internal/crashtest process   the whole process with its embedded broker, under HTTP calls
//	go run ./internal/crashtest router    a router alone, against a broker that lives on
//
// It prints one line of figures and exits with 1 when something was lost, when
// the router doubled something, or when fewer kills happened than were asked
// for: a run without faults proves nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"
)

// plan is what a run shall do.
type plan struct {
	kills    int
	duration time.Duration
	rate     int
	seed     uint64
	brokers  string
	verbose  bool
	rng      *rand.Rand
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "crashtest: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	scenarios := map[string]func(context.Context, plan, string) error{"process": killProcess, "router": killRouter}
	if len(args) == 0 || scenarios[args[0]] == nil {
		return fmt.Errorf("expected process or router, found %v", args)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	var p plan
	flags.IntVar(&p.kills, "kills", 10, "how often to kill")
	flags.DurationVar(&p.duration, "duration", time.Minute, "how long to send")
	flags.IntVar(&p.rate, "rate", 500, "calls a second")
	flags.Uint64Var(&p.seed, "seed", uint64(time.Now().UnixNano()), "of the moments of the kills")
	flags.StringVar(&p.brokers, "brokers", os.Getenv("KAFKA_BROKERS"), "router: a broker to use instead of an embedded one")
	flags.BoolVar(&p.verbose, "v", false, "show what the processes log")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	p.rng = rand.New(rand.NewPCG(p.seed, 0)) //nolint:gosec // a seed that can be given again is the point
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "anabranch-crash-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	fmt.Printf("%s: %d kills in %s at %d calls/s, seed %d\n", args[0], p.kills, p.duration, p.rate, p.seed)
	return scenarios[args[0]](ctx, p, dir)
}

// moments spreads n kills over d: one in each n-th part of it, somewhere in the
// middle of the part, so that a victim has had time to get going again.
func (p plan) moments() []time.Duration {
	part := p.duration / time.Duration(p.kills)
	all := make([]time.Duration, p.kills)
	for i := range all {
		all[i] = part*time.Duration(i) + part/3 + time.Duration(p.rng.Int64N(int64(part/2)))
	}
	return all
}
