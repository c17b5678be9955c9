package fleetfaults

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/membership"
	"github.com/anabranch/anabranch/test/storm/receiver"
)

// The stages of a fleet, by the names of their targets.
const (
	router = "router"
	sink   = "webhook-sink"
)

// keysEach is how many users each partition has.
const keysEach = 50

// fleet is routers and sinks side by side, on the way of the events of one
// destination. Every topic has as many partitions, so that a user's events are on
// the partition of one number all the way, and are one stream's.
type fleet struct {
	lab       *lab.Lab
	streams   []*load.Stream              // of raw-events, one for each partition
	processes map[string][]*child.Process // by stage
	groups    map[string]*membership.Group
	topics    map[string]string // that each stage's group consumes
}

// newFleet prepares a fleet of nobody.
func newFleet(ctx context.Context, l *lab.Lab, partitions int, behave receiver.Behaviour) (*fleet, error) {
	if err := l.OpenWide(ctx, partitions); err != nil {
		return nil, err
	}
	to, err := l.Receivers(ctx, 1)
	if err != nil {
		return nil, err
	}
	to[0].Behave(behave)
	l.Destination("fleet", 1, to[0].URL())
	if err = l.Apply(ctx); err != nil {
		return nil, err
	}
	cl, err := kgo.NewClient(l.Kafka...)
	if err != nil {
		return nil, err
	}
	l.OnClose(cl.Close)
	return &fleet{
		lab:       l,
		streams:   load.PartitionStreams(l.Books.Run(), "raw", schemas.TopicRawEvents, partitions, keysEach),
		processes: make(map[string][]*child.Process),
		groups: map[string]*membership.Group{
			router: {Client: cl, Name: "anabranch-router"},
			sink:   {Client: cl, Name: "anabranch-webhook-sink"},
		},
		topics: map[string]string{router: schemas.TopicRawEvents, sink: schemas.DeliverTopic(l.ID("fleet"))},
	}, nil
}

// grow starts instances until there are n of each stage, waits until they share the
// partitions, and sends some events through all of them.
func (f *fleet) grow(ctx context.Context, n int, env ...string) error {
	for _, stage := range []string{router, sink} {
		for i := len(f.processes[stage]); i < n; i++ {
			p, err := f.lab.Stage(stage, i, env...)
			if err != nil {
				return err
			}
			if err = p.Start(); err != nil {
				return err
			}
			f.processes[stage] = append(f.processes[stage], p)
		}
	}
	return f.settle(ctx)
}

func (f *fleet) settle(ctx context.Context) error {
	for stage, all := range f.processes {
		for _, p := range all {
			if err := p.Ready(ctx); err != nil {
				return err
			}
		}
		if err := f.groups[stage].Settled(ctx, len(all), f.topics[stage], len(f.streams)); err != nil {
			return err
		}
	}
	return f.lab.Warm(ctx, f.streams...)
}

// all are the processes in the order in which they are stopped.
func (f *fleet) all() []*child.Process {
	return append(append([]*child.Process{}, f.processes[router]...), f.processes[sink]...)
}

// instance is the name of a process in its group.
func instance(stage string, n int) string { return fmt.Sprintf("%s-storm-%s-%d", stage, stage, n) }

// without returns the streams but for those of some partitions.
func without(all []*load.Stream, partitions []int32) []*load.Stream {
	gone := make(map[int]bool, len(partitions))
	for _, p := range partitions {
		gone[int(p)] = true
	}
	var rest []*load.Stream
	for i, s := range all {
		if !gone[i] {
			rest = append(rest, s)
		}
	}
	return rest
}

// patience is how long a fleet may take to deliver what is left after the load.
const patience = time.Minute
