// Package backlog knows what of some topics is not processed on the partitions of this
// process, how old that is, and whether a partition stands still.
package backlog

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/lag"
)

// Backlog is told by the loop what it polls and commits, and by a look at the brokers
// where partitions end, which polls do not tell while they fail. It may be used by many
// goroutines.
type Backlog struct {
	group string
	descs Descs
	still lag.Standstills

	mu    sync.Mutex
	parts map[kafka.Partition]*stretch
}

// Descs are the gauges of a backlog, named by its stage: records that are not processed,
// seconds since the first of them was taken, and seconds for which a partition has stood
// still with records before it.
type Descs struct{ Lag, Oldest, Stalled *prometheus.Desc }

func (d Descs) total() lag.Gauges { return lag.Gauges{Lag: d.Lag, Oldest: d.Oldest} }

// stretch is one partition, for as long as it is ours.
type stretch struct {
	lag.Extent

	known bool
	next  int64     // behind what was processed
	held  time.Time // when the first event was taken that was polled and is not processed; zero: none
}

// New returns the backlog of a group, of which no partition is this process's yet.
func New(group string, descs Descs) *Backlog {
	return &Backlog{group: group, descs: descs, parts: make(map[kafka.Partition]*stretch)}
}

// Assign notes partitions that are this process's now.
func (b *Backlog) Assign(partitions []kafka.Partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range partitions {
		b.parts[p] = new(stretch)
	}
}

// Forget notes partitions that are somebody else's now.
func (b *Backlog) Forget(partitions []kafka.Partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range partitions {
		delete(b.parts, p)
	}
}

// Recount asks the group which partitions are ours. A session does not pass on every
// revocation: of those between two transactions the first alone. A process at rest
// would count partitions as its own that have long been another's.
func (b *Backlog) Recount(ctx context.Context, admin, client *kgo.Client) error {
	id, generation := client.GroupMetadata()
	described, err := groups.Describe(ctx, admin, b.group)
	if err != nil {
		return err
	}
	if nowID, now := client.GroupMetadata(); id == "" || nowID != id || now != generation || !described[0].Settled() {
		return nil // in the midst of a rebalance: the next look tells
	}
	var ours []kafka.Partition
	for _, member := range described[0].Members {
		if member.ID == id {
			ours = kafka.Partitions(member.Partitions)
		}
	}
	b.hold(ours)
	return nil
}

// hold lets the backlog be that of these partitions and of no others.
func (b *Backlog) hold(ours []kafka.Partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for p := range b.parts {
		if !slices.Contains(ours, p) {
			delete(b.parts, p)
		}
	}
	for _, p := range ours {
		if b.parts[p] == nil {
			b.parts[p] = new(stretch)
		}
	}
}

// Polled notes records that are being processed. They come again if their transaction
// is aborted.
func (b *Backlog) Polled(fetches kgo.Fetches) { b.each(fetches, (*stretch).polled) }

// Processed notes that the transaction of such records has committed.
func (b *Backlog) Processed(fetches kgo.Fetches) { b.each(fetches, (*stretch).processed) }

func (b *Backlog) each(fetches kgo.Fetches, note func(*stretch, *kgo.FetchPartition, time.Time)) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if s := b.parts[kafka.Partition{Topic: p.Topic, Num: p.Partition}]; s != nil && len(p.Records) > 0 {
			note(s, &p.FetchPartition, now)
		}
	})
}

func (s *stretch) polled(p *kgo.FetchPartition, now time.Time) {
	first := p.Records[0]
	if !s.known {
		s.known, s.next = true, first.Offset
	}
	s.Reach(max(p.LastStableOffset, p.Records[len(p.Records)-1].Offset+1))
	if s.held.IsZero() { // a transaction is filled by several polls
		s.held = first.Timestamp
	}
	s.catchUp(now)
}

func (s *stretch) processed(p *kgo.FetchPartition, now time.Time) {
	last := p.Records[len(p.Records)-1]
	s.next, s.held = last.Offset+1, time.Time{}
	s.Pass(last.Timestamp)
	s.catchUp(now)
}

// Begin notes where processing of a partition goes on, which need not be where the group
// has committed.
func (b *Backlog) Begin(p kafka.Partition, next int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.parts[p]; s != nil {
		s.known, s.next = true, next
	}
}

// positions are those of the partitions of this process.
func (b *Backlog) positions() []lag.Position {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]lag.Position, 0, len(b.parts))
	for p, s := range b.parts {
		all = append(all, lag.Position{Partition: p, Next: s.next})
	}
	return all
}

// Stands is the error about a partition that stands still.
func (b *Backlog) Stands() error {
	b.still.Look(b.positions())
	return b.still.Err()
}

// Look notes how far the group has come on the partitions that are ours, and where
// these end, and says in the log which stand still. An error says that the look failed.
func (b *Backlog) Look(lags map[string]map[int32]groups.Lag, ends map[string]map[int32]int64, err error, log *slog.Logger) {
	b.look(lags)
	b.still.Look(b.positions())
	if err != nil {
		log.Debug("look at the ends of partitions failed, the lag is that of the last one", "error", err)
	}
	b.still.Seen(lags, ends, err, log)
}

func (b *Backlog) look(lags map[string]map[int32]groups.Lag) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for p, s := range b.parts {
		if seen, ok := lags[p.Topic][p.Num]; ok {
			// What was processed since is known better here.
			s.known, s.next = true, max(s.next, seen.Committed)
			s.Look(seen.End)
			s.catchUp(now)
		}
	}
}

func (s *stretch) catchUp(now time.Time) { s.CatchUp(s.Left(s.next) > 0, s.held, now) }

// Describe implements [prometheus.Collector].
func (b *Backlog) Describe(ch chan<- *prometheus.Desc) {
	b.descs.total().Describe(ch)
	ch <- b.descs.Stalled
}

// Collect implements [prometheus.Collector].
func (b *Backlog) Collect(ch chan<- prometheus.Metric) {
	b.still.Look(b.positions()) // what was processed since the last look
	b.descs.total().Collect(ch, b.total(), time.Now())
	ch <- prometheus.MustNewConstMetric(b.descs.Stalled, prometheus.GaugeValue, b.still.Longest().Seconds())
}

func (b *Backlog) total() (sum lag.Total) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.parts {
		left := s.Left(s.next)
		sum.Add(lag.Total{Records: left, Oldest: s.Since(left > 0, s.held)})
	}
	return sum
}
