package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/receiver"
)

// Layout is what a row about the sink sets up.
type Layout struct {
	Partitions   int // of each destination's topic
	Destinations int // of one receiver each
	Keys         int // users of each destination
	Sinks        int
	// Behave says how the receivers answer from the start; nil: at once.
	Behave func(i int) receiver.Behaviour
	// Routed sends the events of the one destination through raw-events and a router.
	Routed bool
	// Calls says that the row makes calls itself, for the audit to account for.
	Calls bool
}

// Field is the same when it is there: the sinks are ready and have delivered to
// each destination.
type Field struct {
	Receivers []*receiver.Receiver
	Streams   []*load.Stream
	Sinks     []*child.Process
	Router    *child.Process // nil unless events are routed
}

// All are its processes in the order in which they are stopped.
func (f *Field) All() []*child.Process {
	if f.Router == nil {
		return f.Sinks
	}
	return append([]*child.Process{f.Router}, f.Sinks...)
}

// Field sets a layout up.
func (l *Lab) Field(ctx context.Context, y Layout, env ...string) (*Field, error) {
	if err := l.Open(ctx, y.Partitions); err != nil {
		return nil, err
	}
	l.straight = !y.Routed && !y.Calls
	var f Field
	var err error
	if f.Receivers, err = l.Receivers(ctx, y.Destinations); err != nil {
		return nil, err
	}
	for i, to := range f.Receivers {
		if y.Behave != nil {
			to.Behave(y.Behave(i))
		}
		add := l.Destination
		if y.Routed {
			add = l.Routed
		}
		f.Streams = append(f.Streams, add(fmt.Sprintf("d%d", i), y.Keys, to.URL()))
	}
	if err = l.Apply(ctx); err != nil {
		return nil, err
	}
	if f.Sinks, err = l.Sinks(ctx, y.Sinks, env...); err != nil {
		return nil, err
	}
	if y.Routed {
		if f.Router, err = l.Launch(ctx, "router", 0); err != nil {
			return nil, err
		}
	}
	return &f, l.Warm(ctx, f.Streams...)
}

// Receivers starts n receivers.
func (l *Lab) Receivers(ctx context.Context, n int) ([]*receiver.Receiver, error) {
	all := make([]*receiver.Receiver, 0, n)
	for range n {
		r, err := l.Receiver(ctx, l.Books)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Receiver starts one that writes into the given books.
func (l *Lab) Receiver(ctx context.Context, b *books.Books) (*receiver.Receiver, error) {
	r, err := receiver.New(ctx, b)
	if err == nil {
		l.OnClose(r.Down)
	}
	return r, err
}

// Hostile starts a receiver that misbehaves.
func (l *Lab) Hostile(ctx context.Context, kind receiver.Misbehaviour) (*receiver.Hostile, error) {
	h, err := receiver.NewHostile(ctx, kind)
	if err == nil {
		l.OnClose(h.Close)
	}
	return h, err
}

// Sinks starts n sinks and waits until they are ready.
func (l *Lab) Sinks(ctx context.Context, n int, env ...string) ([]*child.Process, error) {
	all := make([]*child.Process, 0, n)
	for i := range n {
		p, err := l.Stage("webhook-sink", i, env...)
		if err != nil {
			return nil, err
		}
		if err = p.Start(); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	for _, p := range all {
		if err := p.Ready(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Launch starts a process of one stage and waits until it is at work.
func (l *Lab) Launch(ctx context.Context, target string, n int, env ...string) (*child.Process, error) {
	p, err := l.Stage(target, n, env...)
	if err == nil {
		err = p.Launch(ctx)
	}
	return p, err
}

// Warm sends some events to each stream and waits for them: what follows then
// finds open connections, and partitions that have been taken up.
func (l *Lab) Warm(ctx context.Context, streams ...*load.Stream) error {
	if err := l.Writer.Fill(ctx, 3, streams...); err != nil {
		return err
	}
	if _, err := l.Drain(ctx, time.Minute); err != nil {
		return err
	}
	if n := l.Books.Tally(nil).Lost; n > 0 {
		return fmt.Errorf("%d of the first events did not arrive within a minute", n)
	}
	return nil
}

// Under does something while events are written to the streams in turn, and
// returns when the broker has acknowledged them.
func (l *Lab) Under(ctx context.Context, rate int, streams []*load.Stream, do func() error) error {
	writing, enough := context.WithCancel(ctx)
	written := make(chan error, 1)
	go func() { written <- l.Writer.Run(writing, rate, streams...) }()
	err := do()
	enough()
	return errors.Join(err, <-written)
}

// Phase sums up how long the events of a span took. It is for after the end,
// when all have arrived that ever will: the books are closed to receivers
// meanwhile.
func (l *Lab) Phase(s books.Span, pick func(string) bool) books.Phase {
	return books.Summarize(l.Books.Latencies(s, time.Now(), pick))
}

// Deliveries is Phase from when the broker had acknowledged the events: it leaves
// out how long the bench's own writes took.
func (l *Lab) Deliveries(s books.Span, pick func(string) bool) books.Phase {
	return books.Summarize(l.Books.Deliveries(s, time.Now(), pick))
}

// Only picks the producers of the given streams.
func Only(streams ...*load.Stream) func(string) bool {
	picked := make(map[string]bool, len(streams))
	for _, s := range streams {
		picked[s.Producer()] = true
	}
	return func(producer string) bool { return picked[producer] }
}
