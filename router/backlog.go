package router

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// backlog is what is not routed on the partitions of this process. The loop tells
// what it polls and commits, and a look at the brokers where partitions end, which
// polls do not tell while they fail. It may be used by many goroutines.
type backlog struct {
	lag, oldest, stalled *prometheus.Desc

	still kafka.Standstills

	mu    sync.Mutex
	parts map[int32]*stretch
}

// stretch is one partition, for as long as it is ours.
type stretch struct {
	known     bool
	next, end int64     // behind what was routed, and of the partition
	held      time.Time // when the first event was taken that was polled and is not routed; zero: none
	last      time.Time // when the last event was taken that was routed
	behind    time.Time // since when something is known to be unrouted; zero: nothing is
}

func newBacklog(reg prometheus.Registerer) *backlog {
	b := &backlog{
		parts: make(map[int32]*stretch),
		lag: prometheus.NewDesc("anabranch_router_lag_records",
			"Events on raw-events that are not routed, on the partitions of this process. Of those not read yet the markers of transactions are counted too.", nil, nil),
		oldest: prometheus.NewDesc("anabranch_router_oldest_unrouted_seconds",
			"How long ago ingest took the first event that is not routed, on the partitions of this process; 0 when there is none.", nil, nil),
		stalled: prometheus.NewDesc("anabranch_router_stalled_seconds",
			"Longest time for which a partition of this process on raw-events has stood still with records before it, while the brokers answered; 0 when none does.", nil, nil),
	}
	reg.MustRegister(b)
	return b
}

func (b *backlog) assign(partitions []int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, num := range partitions {
		b.parts[num] = new(stretch)
	}
}

func (b *backlog) forget(partitions []int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, num := range partitions {
		delete(b.parts, num)
	}
}

// hold lets the backlog be that of these partitions and of no others.
func (b *backlog) hold(ours []int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for num := range b.parts {
		if !slices.Contains(ours, num) {
			delete(b.parts, num)
		}
	}
	for _, num := range ours {
		if b.parts[num] == nil {
			b.parts[num] = new(stretch)
		}
	}
}

// polled notes records that are being routed. They come again if their transaction
// is aborted.
func (b *backlog) polled(fetches kgo.Fetches) { b.each(fetches, (*stretch).polled) }

// routed notes that the transaction of such records has committed.
func (b *backlog) routed(fetches kgo.Fetches) { b.each(fetches, (*stretch).routed) }

func (b *backlog) each(fetches kgo.Fetches, note func(*stretch, *kgo.FetchPartition, time.Time)) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if s := b.parts[p.Partition]; s != nil && len(p.Records) > 0 {
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

func (s *stretch) routed(p *kgo.FetchPartition, now time.Time) {
	last := p.Records[len(p.Records)-1]
	s.next, s.last, s.held = last.Offset+1, last.Timestamp, time.Time{}
	s.catchUp(now)
}

// begin notes where routing of a partition goes on, which need not be where the group
// has committed.
func (b *backlog) begin(num int32, next int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.parts[num]; s != nil {
		s.known, s.next = true, next
	}
}

// positions are those of the partitions of this process.
func (b *backlog) positions() []kafka.Position {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]kafka.Position, 0, len(b.parts))
	for num, s := range b.parts {
		all = append(all, kafka.Position{Topic: schemas.TopicRawEvents, Num: num, Next: s.next})
	}
	return all
}

// stands is the error about a partition that stands still.
func (b *backlog) stands() error {
	b.still.Look(b.positions())
	return b.still.Err()
}

// look notes how far the group has come on the partitions that are ours, and where
// these end.
func (b *backlog) look(lags map[int32]kafka.Lag) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for num, lag := range lags {
		s := b.parts[num]
		if s == nil {
			continue
		}
		// What was routed since is known better here.
		s.known, s.next, s.end = true, max(s.next, lag.Committed), lag.End
		s.catchUp(now)
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

// age is how long ago the first event was taken that is not routed. While none was
// polled it is as old as the backlog, or as the last that was routed, whichever is
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
func (b *backlog) Describe(ch chan<- *prometheus.Desc) {
	ch <- b.lag
	ch <- b.oldest
	ch <- b.stalled
}

// Collect implements [prometheus.Collector].
func (b *backlog) Collect(ch chan<- prometheus.Metric) {
	records, age := b.sum(time.Now())
	b.still.Look(b.positions()) // what was routed since the last look
	ch <- prometheus.MustNewConstMetric(b.lag, prometheus.GaugeValue, float64(records))
	ch <- prometheus.MustNewConstMetric(b.oldest, prometheus.GaugeValue, age.Seconds())
	ch <- prometheus.MustNewConstMetric(b.stalled, prometheus.GaugeValue, b.still.Longest().Seconds())
}

func (b *backlog) sum(now time.Time) (records int64, age time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.parts {
		records += max(s.end-s.next, 0)
		age = max(age, s.age(now))
	}
	return records, age
}

const (
	lookEvery = 10 * time.Second
	lookTime  = 5 * time.Second
)

// look keeps the backlog known while polls tell nothing, until ctx ends. Nothing
// waits for it.
func (r *Router) look(ctx context.Context) {
	pause(ctx, time.Second)
	for ; ctx.Err() == nil; pause(ctx, lookEvery) {
		r.lookOnce(ctx)
		r.seekForgotten(ctx)
	}
}

func (r *Router) lookOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	err := r.recount(ctx)
	lags, noLag := r.set.Topics.Lag(ctx, Group, r.source)
	highs, noHighs := r.set.Topics.Ends(ctx, r.source)
	r.backlog.look(lags[r.source])
	r.backlog.still.Look(r.backlog.positions())
	if err = errors.Join(err, noLag, noHighs); err != nil {
		r.log.Debug("look at the end of raw-events failed, the lag is that of the last one", "error", err)
		r.backlog.still.Unseen()
	} else {
		r.backlog.still.Ends(r.source, lags[r.source], highs[r.source])
	}
	r.backlog.still.Tell(r.log)
	r.bookmark(ctx, r.client.Load())
	r.wait(ctx)
}

// recount asks the group which partitions are ours. A session does not pass on every
// revocation: of those between two transactions the first alone. A router at rest
// would count partitions as its own that have long been another's.
func (r *Router) recount(ctx context.Context) error {
	client := r.client.Load()
	if client == nil {
		return nil
	}
	id, generation := client.GroupMetadata()
	groups, err := r.set.Topics.Groups(ctx, Group)
	if err != nil {
		return err
	}
	if nowID, now := client.GroupMetadata(); id == "" || nowID != id || now != generation || !groups[0].Settled() {
		return nil // in the midst of a rebalance: the next look tells
	}
	var ours []int32
	for _, member := range groups[0].Members {
		if member.ID == id {
			ours = member.Partitions[r.source]
		}
	}
	r.backlog.hold(ours)
	return nil
}
