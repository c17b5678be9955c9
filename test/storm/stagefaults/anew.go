package stagefaults

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/receiver"
	"github.com/anabranch/anabranch/test/storm/report"
)

const (
	// written is how many events a topic gets when it is there again: fewer than the
	// old one had.
	written = 50
	// maxRemade is what events of another destination may take meanwhile: their sink
	// joins its group again.
	maxRemade = 5 * time.Second
	// kept begins the names of producers whose events must all arrive.
	kept = "kept"
)

// TopicAnew deletes a destination's topic under load and makes it anew, while its sink
// delivers to another one too. What was on the old topic is gone with it; what is
// written to the new one must arrive.
func TopicAnew(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate = 200
	times, phase := lab.Pick(l, 2, 6), lab.Pick(l, 3*time.Second, 10*time.Second)
	f, err := l.Field(ctx, lab.Layout{Partitions: 6, Destinations: 2, Keys: 100, Sinks: 1, Behave: func(int) receiver.Behaviour {
		return receiver.Behaviour{Delay: 20 * time.Millisecond}
	}})
	if err != nil {
		return nil, err
	}
	r := &report.Result{Faults: report.Faults{What: "topics made anew", Claimed: times}}
	other := f.Streams[1]
	during := books.Span{From: time.Now()}
	err = l.Under(ctx, rate, []*load.Stream{other}, func() error {
		for i := range times {
			if made := remake(ctx, l, i, rate, phase); made != nil {
				return made
			}
			r.Faults.Injected++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	during.To = time.Now()
	counts := func(producer string) bool { return producer == other.Producer() || strings.HasPrefix(producer, kept) }
	settled := func() bool { return l.Books.Tally(counts).Lost == 0 }
	if err = child.Until(ctx, time.Minute, "all events to arrive", settled); err != nil {
		r.Note("%v", err)
	}
	if err = load.ReadTopic(ctx, l.Kafka, schemas.TopicDeadLetters, l.Books.Dead); err != nil {
		return nil, err
	}
	l.Exit(r, f.Sinks...)
	r.Tally, r.During = l.Books.Tally(counts), l.Phase(during, lab.Only(other))
	r.Require(r.During.Max <= maxRemade, "another destination's event took %s instead of at most %s", r.During.Max, maxRemade)
	r.Judge(report.Bounds{MinSent: times*written + lab.AtLeast(rate, time.Duration(times)*phase)})
	return r, nil
}

// remake has the topic of the first destination made anew while events are written to
// it, and writes some to the new one.
func remake(ctx context.Context, l *lab.Lab, i, rate int, phase time.Duration) error {
	topic := schemas.DeliverTopic(l.ID("d0"))
	writing, enough := context.WithCancel(ctx)
	defer enough()
	doomed, err := l.NewWriter()
	if err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		// What it writes goes with the topic, which is what its error says.
		_ = doomed.Run(writing, rate, load.NewStream(l.Books.Run(), fmt.Sprintf("doomed%d", i), topic, 100))
	}()
	if err = lab.Pause(ctx, phase); err != nil {
		return err
	}
	if err = l.MakeAnew(ctx, topic); err != nil {
		return err
	}
	enough()
	<-gone
	fresh, err := l.NewWriter()
	if err != nil {
		return err
	}
	return fresh.Fill(ctx, written, load.NewStream(l.Books.Run(), fmt.Sprintf("%s%d", kept, i), topic, 100))
}
