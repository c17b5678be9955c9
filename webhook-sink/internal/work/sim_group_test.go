package work

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/breaker"
	"github.com/anabranch/anabranch/webhook-sink/internal/config"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

// simGroup is a group of sinks on one broker, with the receivers that they send to.
// All of it lives in virtual time.
type simGroup struct {
	delays      []time.Duration
	window      time.Duration
	limits      quota.Limits
	breaker     breaker.Options
	commitEvery time.Duration
	random      func() float64

	workspace  *workspace.Live
	broker     *simBroker
	net        *simNet
	books      *simBooks
	writesFail atomic.Bool
	members    []*simMember
}

// plan is what a simulation is made of. What is zero is as in the product.
type simPlan struct {
	delays          []time.Duration
	window          time.Duration
	limits          quota.Limits
	destinations    map[string]int // endpoints of each
	partitions      int32          // of each topic
	retryPartitions int32
	commitEvery     time.Duration
	random          func() float64
	replays         bool // destinations have topics of replays
}

func newSimGroup(p simPlan) *simGroup {
	g := &simGroup{
		delays: config.Default().RetryDelays, window: config.Default().RetryWindow, limits: quota.Limits{Each: config.Default().MaxInFlight, Total: config.Default().MaxInFlightTotal, First: config.FirstInFlight},
		commitEvery: max(p.commitEvery, config.CommitEvery), random: p.random,
		broker: newSimBroker(), books: newSimBooks(),
	}
	g.net = &simNet{books: g.books}
	if p.delays != nil {
		g.delays = p.delays
	}
	g.breaker = config.Breaker(g.delays)
	if p.window != 0 {
		g.window = p.window
	}
	if p.limits.Each != 0 {
		g.limits = p.limits
	}
	var destinations []workspace.Destination
	for id, endpoints := range p.destinations {
		d := workspace.Destination{ID: id, Type: workspace.TypeWebhooks, Name: id, Enabled: true}
		for i := range endpoints {
			d.Endpoints = append(d.Endpoints, workspace.Endpoint{URL: "http://" + simHost(id, i) + "/hook"})
		}
		destinations = append(destinations, d)
		g.broker.create(schemas.DeliverTopic(id), max(p.partitions, 1))
		if p.replays {
			g.broker.create(schemas.ReplayTopic(id), max(p.partitions, 1))
		}
	}
	g.workspace = workspace.NewLive(workspace.NewSnapshot(nil, destinations))
	for _, delay := range g.delays {
		g.broker.create(schemas.RetryTopic(delay), max(p.retryPartitions, 1))
	}
	g.broker.create(schemas.TopicDeadLetters, 1)
	return g
}

// pause has all members send nothing to these destinations, and to all others.
func (g *simGroup) pause(ids ...string) {
	doc := workspace.Document{Pauses: make(map[string]workspace.Pause)}
	for _, d := range g.workspace.Load().Destinations() {
		doc.Destinations = append(doc.Destinations, *d)
	}
	for _, id := range ids {
		doc.Pauses[id] = workspace.Pause{Since: time.Now()}
		if p, already := g.workspace.Load().Paused(id); already {
			doc.Pauses[id] = p
		}
	}
	g.workspace.Store(doc.Snapshot())
	for _, m := range g.members {
		m.dispatcher.Hold(g.workspace.Load().PausedIDs())
	}
}

// simHost is the host of a destination's i-th endpoint.
func simHost(id string, i int) string { return fmt.Sprintf("%s-%d.test", id, i) }

// join starts a member, and leaves it its part of the partitions.
func (g *simGroup) join(skew time.Duration) *simMember {
	m := g.newMember(skew)
	g.members = append(g.members, m)
	g.rebalance()
	return m
}

// leave takes a member out, which was stopped or killed.
func (g *simGroup) leave(m *simMember) {
	g.members = slices.DeleteFunc(g.members, func(other *simMember) bool { return other == m })
	g.rebalance()
}

// rebalance moves as few partitions as it takes to spread them evenly. First they
// are revoked, then they are assigned.
func (g *simGroup) rebalance() {
	if len(g.members) == 0 {
		return
	}
	free := make(map[partition.Place]bool)
	for _, at := range g.broker.consumed() {
		free[at] = true
	}
	most := (len(free) + len(g.members) - 1) / len(g.members)
	surplus := make(map[*simMember][]partition.Place)
	room := make(map[*simMember]int)
	for _, m := range g.members {
		held := m.places()
		slices.SortFunc(held, comparePlaces)
		kept := min(len(held), most)
		for _, at := range held[:kept] {
			delete(free, at)
		}
		surplus[m], room[m] = held[kept:], most-kept
	}
	for _, m := range g.members {
		if len(surplus[m]) > 0 {
			m.revoke(surplus[m])
		}
	}
	rest := make([]partition.Place, 0, len(free))
	for at := range free {
		rest = append(rest, at)
	}
	slices.SortFunc(rest, comparePlaces)
	for _, m := range g.members {
		n := min(room[m], len(rest))
		if n > 0 {
			m.assign(rest[:n])
		}
		rest = rest[n:]
	}
	g.share()
}

// share tells each member which part of the retries is its own.
func (g *simGroup) share() {
	ours := make([]int, len(g.members))
	total := 0
	for i, m := range g.members {
		for _, p := range m.dispatcher.Progress() {
			if p.Destination == "" {
				ours[i]++
			}
		}
		total += ours[i]
	}
	for i, m := range g.members {
		if ours := ours[i]; ours > 0 {
			m.dispatcher.SetShare(float64(ours) / float64(total))
		}
	}
}

// close ends the group in order, and reports what it left behind.
func (g *simGroup) close(tb testing.TB) {
	tb.Helper()
	for _, m := range g.members {
		m.stop()
	}
	if left := g.broker.left(); left > 0 {
		tb.Errorf("%d records are left unfinished", left)
	}
}

// produce writes an event for a destination, as the router does, and returns its
// number.
func (g *simGroup) produce(destination, key string) int {
	return g.write(schemas.DeliverTopic(destination), key, schemas.Headers{Origin: schemas.OriginAPI})
}

// replay writes an event as a replay does.
func (g *simGroup) replay(destination, key string) int {
	return g.write(schemas.ReplayTopic(destination), key, schemas.Headers{Origin: schemas.OriginReplay, Run: "run"})
}

func (g *simGroup) write(topic, key string, h schemas.Headers) int {
	number := g.books.created()
	r := &kgo.Record{
		Topic: topic, Key: []byte(key),
		Value: fmt.Appendf(nil, `{"type":"track","messageId":"e%08d","userId":%q,"event":"Tested","timestamp":"2026-01-01T00:00:00.000Z"}`, number, key),
	}
	h.Source, h.Type, h.MessageID = "website", schemas.TypeTrack, fmt.Sprintf("e%08d", number)
	kafka.SetHeaders(r, &h)
	g.broker.append(r, time.Now())
	return number
}

func byTopic(places []partition.Place) map[string][]int32 {
	topics := make(map[string][]int32)
	for _, at := range places {
		topics[at.Topic] = append(topics[at.Topic], at.Num)
	}
	return topics
}

// await waits for all channels to be closed, for d at most.
func await(d time.Duration, all ...<-chan struct{}) {
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	for _, done := range all {
		select {
		case <-done:
		case <-deadline.C:
			return
		}
	}
}
