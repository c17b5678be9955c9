package stagefaults

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
)

const (
	// activeFor is the window of the audience whose members leave by themselves.
	activeFor = 2 * time.Second
	// howMany users there are: a prime, so that all of them call.
	howMany = 211
)

// people are the users of one run, and what is computed of them. Nobody else has their ids,
// nor the definitions', so that a broker can serve run after run.
type people struct {
	run, suffix string

	made         int          // calls; of the goroutine that makes them, until it has ended
	acknowledged atomic.Int64 // of them: all of those are in the log
}

func newPeople(run string) *people {
	suffix := strconv.FormatInt(time.Now().UnixMilli(), 10)
	return &people{run: run + "-" + suffix, suffix: suffix}
}

func (p *people) definitions() string {
	return strings.NewReplacer("ID", p.suffix, "WINDOW", activeFor.String()).Replace(`audiences:
  - {id: active_ID, when: {did: Storm, within: WINDOW}}
  - {id: regulars_ID, when: {did: Storm, times: {gte: 3}}}
traits:
  - {id: storms_ID, take: count, did: Storm}
`)
}

// least is how many of the calls have to be in the log: nearly all that were made, however many
// the machine came to, and some for each fault, or it was none.
func (p *people) least(faults int) int { return max(p.made*9/10, faults*callsPerFault) }

// call has users do something at a rate until ctx ends, in an order that leaves gaps as
// long as the window.
func (p *people) call(ctx context.Context, cl *kgo.Client, rate int) error {
	load.Pace(ctx, rate, func() {
		rec := call(fmt.Sprintf("%s-u%d", p.run, p.made*p.made%howMany), fmt.Sprintf("%s-%d", p.run, p.made), "Storm")
		p.made++
		cl.Produce(context.WithoutCancel(ctx), rec, func(_ *kgo.Record, err error) {
			if err == nil {
				p.acknowledged.Add(1)
			}
		})
	})
	return cl.Flush(context.WithoutCancel(ctx))
}

// call is one that a user makes now.
func call(user, id, event string) *kgo.Record {
	rec := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte(user), Value: fmt.Appendf(nil,
		`{"type":"track","messageId":%q,"userId":%q,"event":%q,"properties":{},"timestamp":%q,"context":{}}`, id, user, event, time.Now().UTC().Format(schemas.TimeLayout))}
	kafka.SetHeaders(rec, &schemas.Headers{Source: lab.Source, Type: schemas.TypeTrack, MessageID: id, Origin: schemas.OriginAPI})
	return rec
}

// await returns when each partition tells what the definitions say: what comes from then on is
// no history of theirs. That the stage has been there says nothing, on a broker that has served
// other runs.
func (p *people) await(ctx context.Context, l *lab.Lab) error {
	probes := "probe-" + p.run
	silent := make(map[int32]bool) // partitions by whether nothing was told on them
	for i := range 10 * partitions {
		user := fmt.Sprintf("%s-%d", probes, i)
		rec := call(user, user, "Storm")
		if err := l.Writer.Client.ProduceSync(ctx, rec).FirstErr(); err != nil {
			return err
		}
		silent[rec.Partition] = true
	}
	return child.Until(ctx, 90*time.Second, "each partition to tell of audiences", func() bool {
		err := load.ReadRecords(ctx, l.Kafka, schemas.TopicRawEvents, func(rec *kgo.Record) {
			if h, err := kafka.HeadersOf(rec); err == nil && h.Origin == schemas.OriginPersonas && strings.HasPrefix(string(rec.Key), probes) {
				delete(silent, rec.Partition)
			}
		})
		return err == nil && len(silent) == 0
	})
}

// judge reads the log and compares what was told with what follows from it.
func (p *people) judge(ctx context.Context, opts []kgo.Opt) (findings, error) {
	s := newSums(p)
	err := load.ReadRecords(ctx, opts, schemas.TopicRawEvents, s.see)
	return s.findings(), err
}
