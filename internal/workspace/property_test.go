package workspace

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
)

// random returns a small workspace out of few ids and values, so that two of
// them have much in common.
func random(r *rand.Rand) *Snapshot {
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	var sources []Source
	for i := range r.IntN(4) {
		id := "s" + strconv.Itoa(i)
		sources = append(sources, Source{ID: id, Name: pick("A", "B"), WriteKeyHash: HashWriteKey(id + pick("1", "2")), Enabled: r.IntN(2) == 0})
	}
	var destinations []Destination
	for i := range r.IntN(4) {
		d := Destination{
			ID: "d" + strconv.Itoa(i), Type: TypeWebhooks, Name: pick("A", "B"), Enabled: r.IntN(2) == 0,
			SharedSecret: schemas.Secret(pick("", "s1", "s2")),
		}
		for _, source := range sources {
			if r.IntN(2) == 0 {
				d.Sources = append(d.Sources, source.ID)
			}
		}
		for j := range 1 + r.IntN(MaxEndpoints) {
			e := Endpoint{URL: "https://h" + strconv.Itoa(j) + ".example.com/" + pick("a", "b")}
			for k := range r.IntN(3) {
				e.Headers = append(e.Headers, Header{"X-" + strconv.Itoa(k), schemas.Secret(pick("1", "2"))})
			}
			d.Endpoints = append(d.Endpoints, e)
		}
		destinations = append(destinations, d)
	}
	return NewSnapshot(sources, destinations)
}

// TestDifferencesLead writes one difference after the other: each leads from
// wherever the last one led to exactly the next workspace.
func TestDifferencesLead(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	topic := newTable()
	for range 2000 {
		before, next := topic.snapshot(), random(r)
		changes := Diff(before, next)
		if back := Diff(next, before); len(back) != len(changes) {
			t.Fatalf("there %v, back %v", changes, back)
		}
		records, err := encode(changes, next)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range records {
			if err := topic.apply(record); err != nil {
				t.Fatal(err)
			}
		}
		if left := Diff(topic.snapshot(), next); len(left) > 0 {
			t.Fatalf("left after %v: %v", changes, left)
		}
		equal(t, topic.snapshot(), next)
	}
}

// TestFollowersArrive applies one workspace after the other while followers
// start and stop: wherever one begins, it ends with the last workspace.
func TestFollowersArrive(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	r := rand.New(rand.NewPCG(5, 6))
	var lives []*Live
	var last *Snapshot
	for i := range 20 {
		if i%5 == 0 {
			_, live, _ := following(t, c.Options())
			lives = append(lives, live)
		}
		last = random(r)
		apply(t, p, last)
	}
	for _, live := range lives {
		testkit.Until(t, func() bool { return len(Diff(live.Load(), last)) == 0 }, "a follower to have the last workspace")
	}
}
