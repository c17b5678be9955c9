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
)

// Backlog is told by the loop what it polls and commits, and by a look at the brokers
// where partitions end, which polls do not tell while they fail. It may be used by many
// goroutines.
type Backlog struct {
	topics []string
	group  string
	descs  Descs
	still  groups.Standstills

	mu    sync.Mutex
	parts map[kafka.Partition]*stretch
}

// Descs are the gauges of a backlog, named by its stage: records that are not processed,
// seconds since the first of them was taken, and seconds for which a partition has stood
// still with records before it.
type Descs struct{ Lag, Oldest, Stalled *prometheus.Desc }

// stretch is one partition, for as long as it is ours.
type stretch struct {
	known     bool
	next, end int64     // behind what was processed, and of the partition
	held      time.Time // when the first event was taken that was polled and is not processed; zero: none
	last      time.Time // when the last event was taken that was processed
	behind    time.Time // since when something is known to be unprocessed; zero: nothing is
}

// New returns the backlog of a group on topics, of which no partition is this process's
// yet.
func New(topics []string, group string, descs Descs) *Backlog {
	return &Backlog{topics: topics, group: group, descs: descs, parts: make(map[kafka.Partition]*stretch)}
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
	s.end = max(s.end, p.LastStableOffset, p.Records[len(p.Records)-1].Offset+1)
	if s.held.IsZero() { // a transaction is filled by several polls
		s.held = first.Timestamp
	}
	s.catchUp(now)
}

func (s *stretch) processed(p *kgo.FetchPartition, now time.Time) {
	last := p.Records[len(p.Records)-1]
	s.next, s.last, s.held = last.Offset+1, last.Timestamp, time.Time{}
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
func (b *Backlog) positions() []groups.Position {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]groups.Position, 0, len(b.parts))
	for p, s := range b.parts {
		all = append(all, groups.Position{Topic: p.Topic, Num: p.Num, Next: s.next})
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
	for topic, partitions := range lags {
		b.look(topic, partitions)
	}
	b.still.Look(b.positions())
	if err != nil {
		log.Debug("look at the ends of partitions failed, the lag is that of the last one", "error", err)
		b.still.Unseen()
	} else {
		for _, topic := range b.topics {
			b.still.Ends(topic, lags[topic], ends[topic])
		}
	}
	b.still.Tell(log)
}

func (b *Backlog) look(topic string, lags map[int32]groups.Lag) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for num, lag := range lags {
		if s := b.parts[kafka.Partition{Topic: topic, Num: num}]; s != nil {
			// What was processed since is known better here.
			s.known, s.next, s.end = true, max(s.next, lag.Committed), lag.End
			s.catchUp(now)
		}
	}
}

func (s *stretch) catchUp(now time.Time) {
	switch {
	case s.end <= s.next:
		s.behind = time.Time{}
	case s.behind.IsZero():
		s.behind = now
	}
	if !s.held.IsZero() && s.held.Before(s.behind) {
		s.behind = s.held
	}
}

// age is how long ago the first event was taken that is not processed. While none was
// Polled it is as old as the backlog, or as the last that was processed, whichever is
// younger: events stand in the order in which they were taken.
func (s *stretch) age(now time.Time) time.Duration {
	switch {
	case !s.held.IsZero():
		return now.Sub(s.held)
	case s.end <= s.next:
		return 0
	case s.last.After(s.behind):
		return now.Sub(s.last)
	default:
		return now.Sub(s.behind)
	}
}

// Describe implements [prometheus.Collector].
func (b *Backlog) Describe(ch chan<- *prometheus.Desc) {
	ch <- b.descs.Lag
	ch <- b.descs.Oldest
	ch <- b.descs.Stalled
}

// Collect implements [prometheus.Collector].
func (b *Backlog) Collect(ch chan<- prometheus.Metric) {
	records, age := b.sum(time.Now())
	b.still.Look(b.positions()) // what was processed since the last look
	ch <- prometheus.MustNewConstMetric(b.descs.Lag, prometheus.GaugeValue, float64(records))
	ch <- prometheus.MustNewConstMetric(b.descs.Oldest, prometheus.GaugeValue, age.Seconds())
	ch <- prometheus.MustNewConstMetric(b.descs.Stalled, prometheus.GaugeValue, b.still.Longest().Seconds())
}

func (b *Backlog) sum(now time.Time) (records int64, age time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.parts {
		records += max(s.end-s.next, 0)
		age = max(age, s.age(now))
	}
	return records, age
}
