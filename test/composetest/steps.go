package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/test/composetest/stack"
)

// The services of docker-compose.yml that steps reach for.
const (
	ingest = "ingest"
	router = "router"
	sink   = "webhook-sink"
	broker = "redpanda"
)

// step is one thing that is done to the stack while calls come in.
type step struct {
	name, about string
	do          func(ctx context.Context, t *test) error
	// repeats is true where the product's guarantees allow a second delivery of an
	// event that its client has sent once.
	repeats bool
}

// steps are in the order in which they are run: each finds the stack as the one
// before has left it.
func steps() []step {
	return []step{
		{"steady", "one container of each stage, confined, and nothing happens to it", steady, false},
		{"scale-out", "--scale webhook-sink=3 --scale router=2", scaleTo(2, 3), false},
		{"restart-stages", "SIGTERM to a sink and a router, which start again", restartStages, false},
		{"kill-sink", "SIGKILL to one of the sinks", kill(sink), true},
		{"kill-router", "SIGKILL to one of the routers: it is exactly-once", kill(router), false},
		{"kill-ingest", "SIGKILL to ingest: clients send again what was not answered", kill(ingest), false},
		{"restart-broker", "the broker is stopped and started: what sinks finish meanwhile they can't commit", restartBroker, true},
		{"scale-in", "--scale webhook-sink=1 --scale router=1", scaleTo(1, 1), false},
		{"stop-all", "every stage is stopped and started", stopAll, false},
	}
}

// selectSteps returns the steps of the names given, all for an empty text.
func selectSteps(names string) ([]step, error) {
	all := steps()
	if names == "" {
		return all, nil
	}
	var some []step
	for name := range strings.SplitSeq(names, ",") {
		at := slices.IndexFunc(all, func(s step) bool { return s.name == name })
		if at < 0 {
			return nil, fmt.Errorf("-steps %s: no step is named %q", names, name)
		}
		some = append(some, all[at])
	}
	return some, nil
}

func steady(ctx context.Context, t *test) error {
	for service, n := range t.scale {
		all, err := t.stack.Await(ctx, service, n)
		if err != nil {
			return err
		}
		for _, c := range all {
			if faults := c.Unconfined(); len(faults) > 0 {
				return fmt.Errorf("%s: %s", c, strings.Join(faults, ", "))
			}
		}
	}
	return nil
}

// scaleTo has so many routers and sinks, each under a host name of its own, which
// is its INSTANCE_ID.
func scaleTo(routers, sinks int) func(context.Context, *test) error {
	return func(ctx context.Context, t *test) error {
		t.scale[router], t.scale[sink] = routers, sinks
		if err := t.stack.Up(ctx, t.scaled()); err != nil {
			return err
		}
		for _, service := range []string{router, sink} {
			all, err := t.stack.Await(ctx, service, t.scale[service])
			if err != nil {
				return err
			}
			if names := hostnames(all); len(slices.Compact(names)) != len(all) {
				return fmt.Errorf("%d containers of %s have the host names %v, and fence one another", len(all), service, names)
			}
		}
		return nil
	}
}

func hostnames(all []stack.Container) []string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Config.Hostname
	}
	slices.Sort(names)
	return names
}

func restartStages(ctx context.Context, t *test) error {
	for _, service := range []string{sink, router} {
		all, err := t.stack.Await(ctx, service, t.scale[service])
		if err != nil {
			return err
		}
		if err = t.stack.Restart(ctx, &all[0]); err != nil {
			return err
		}
	}
	return t.awaitStages(ctx)
}

// kill ends one container of a service without a warning. It has to come back by
// itself, under the same name.
func kill(service string) func(context.Context, *test) error {
	return func(ctx context.Context, t *test) error {
		before, err := t.stack.Await(ctx, service, t.scale[service])
		if err != nil {
			return err
		}
		if err = t.stack.Kill(ctx, &before[0]); err != nil {
			return err
		}
		after, err := t.stack.Await(ctx, service, len(before))
		if err != nil {
			return err
		}
		if was, is := hostnames(before), hostnames(after); !slices.Equal(was, is) {
			return fmt.Errorf("host names of %s were %v and are %v: their static memberships are lost", service, was, is)
		}
		return nil
	}
}

func restartBroker(ctx context.Context, t *test) error {
	all, err := t.stack.Await(ctx, broker, 1)
	if err != nil {
		return err
	}
	if err = t.stack.Restart(ctx, &all[0]); err != nil {
		return err
	}
	if _, err = t.stack.Await(ctx, broker, 1); err != nil {
		return err
	}
	return t.awaitStages(ctx)
}

func stopAll(ctx context.Context, t *test) error {
	services := []string{ingest, router, sink}
	if _, err := t.stack.Compose(ctx, append([]string{"stop"}, services...)...); err != nil {
		return err
	}
	for _, service := range services {
		all, err := t.stack.Containers(ctx, service)
		if err != nil {
			return err
		}
		for _, c := range all {
			if c.State.Running || c.State.ExitCode != 0 {
				return fmt.Errorf("stop of %s: a stage that is told to stop exits with 0", c)
			}
		}
	}
	if _, err := t.stack.Compose(ctx, append([]string{"start"}, services...)...); err != nil {
		return err
	}
	return t.awaitStages(ctx)
}
