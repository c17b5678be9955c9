package regulation

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// history returns the records of many regulations, each at a random point of its
// life, in an order that their transactions may have, from processes with various keys.
func history(t *testing.T, r *rand.Rand, processes ...*Register) []*kgo.Record {
	t.Helper()
	var log []*kgo.Record
	known := 0
	type life struct {
		Regulation

		users []string
	}
	var open []*life
	for range 60 {
		if len(open) == 0 || r.IntN(3) == 0 {
			users := make([]string, 1+r.IntN(4))
			for i := range users {
				users[i] = strconv.Itoa(r.IntN(20))
			}
			l := &life{New(Types()[r.IntN(4)], len(users), noon), users}
			records, err := creation(&l.Regulation, users, suppressedIn(t, processes, r, log[known:]))
			if err != nil {
				t.Fatal(err)
			}
			known = len(log)
			log = append(log, records...)
			if l.Type.Deletes() {
				open = append(open, l)
			}
			continue
		}
		i := r.IntN(len(open))
		l := open[i]
		switch {
		case r.IntN(3) == 0:
			log = append(log, claim(t, l.ID, strconv.Itoa(r.Int())))
		case l.Notified < l.Subjects-1 && r.IntN(2) == 0:
			l.Status, l.Notified, l.Sources = Running, l.Notified+1, []string{"website"}
			log = append(log, state(t, l.Regulation))
		default:
			l.Regulation = l.End(Finished, "", noon)
			log = append(log, state(t, l.Regulation))
			log = append(log, removal(l.ID, []int{0})...)
			open = slices.Delete(open, i, i+1)
		}
	}
	return log
}

// suppressedIn has all processes read on, and returns what one of them knows then.
func suppressedIn(t *testing.T, processes []*Register, r *rand.Rand, log []*kgo.Record) *Suppressed {
	t.Helper()
	for _, g := range processes {
		apply(t, g, log...)
	}
	if len(processes) == 0 {
		return nil
	}
	return &processes[r.IntN(len(processes))].Suppressed
}

// compact keeps the last record of each key among the first n, as a broker does
// from time to time; of those that remove something it may keep any or none.
func compact(log []*kgo.Record, n int, r *rand.Rand) []*kgo.Record {
	last := make(map[string]int)
	for i, record := range log[:n] {
		last[string(record.Key)] = i
	}
	var kept []*kgo.Record
	for i, record := range log[:n] {
		if last[string(record.Key)] == i && (record.Value != nil || r.IntN(2) == 0) {
			kept = append(kept, record)
		}
	}
	return append(kept, log[n:]...)
}

// facts are all that a register says.
func facts(g *Register) map[string]any {
	all := map[string]any{"suppressed": g.Suppressed.Len(), "unfinished": g.Unfinished()}
	for i := range 20 {
		all["user "+strconv.Itoa(i)] = g.Suppressed.Has([]byte(strconv.Itoa(i)))
	}
	for id := range maps.Keys(g.entries) {
		if r, ok := g.Get(id); ok {
			all["regulation "+id] = r
		}
		if w, ok := g.Work(id); ok {
			all["users of "+id] = fmt.Sprint(w.Users, w.Complete, w.Token)
		}
	}
	return all
}

// TestACompactedTopicSaysTheSame, wherever the broker has come to with it.
func TestACompactedTopicSaysTheSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		log := history(t, r)
		keys := keysOf(t, "12")
		if seed%2 == 1 {
			// In the midst of a rotation.
			log = history(t, r, NewRegister(keys, nil), NewRegister(keysOf(t, "21"), nil))
		}
		whole, compacted := NewRegister(keys, nil), NewRegister(keys, nil)
		apply(t, whole, log...)
		apply(t, compacted, compact(log, r.IntN(len(log)+1), r)...)
		if diff := cmp.Diff(facts(whole), facts(compacted)); diff != "" {
			t.Fatalf("seed %d (-whole +compacted):\n%s", seed, diff)
		}
	}
}

// TestNothingTwiceAndNothingLost has three processes take one regulation from one
// another at random, get on with it, and die in the midst of transactions. However
// that goes, each event is written once.
func TestNothingTwiceAndNothingLost(t *testing.T) {
	t.Parallel()
	const steps = 12
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 0))
		c := testkit.Fake(t)
		topics(t, c)
		l, g := ledger(c), follow(t, c)
		regulated := store(t, l, g, DeleteOnly, make([]string, steps)...)
		var runs [3]*Run
		for i := range runs {
			t.Cleanup(func() { closeRun(runs[i]) })
		}
		for done := false; !done; {
			i := r.IntN(len(runs))
			switch {
			case runs[i] == nil || r.IntN(5) == 0:
				closeRun(runs[i])
				runs[i] = take(t, l, g, regulated.ID)
			case r.IntN(4) == 0:
				die(t, runs[i])
				runs[i] = nil
			default:
				done = getOn(t, runs[i])
			}
		}
		seen := make(map[string]bool)
		for _, record := range c.ReadAll(t, schemas.TopicRawEvents, steps) {
			seen[string(record.Key)] = true
		}
		if len(seen) != steps {
			t.Errorf("seed %d: %d different events, want %d", seed, len(seen), steps)
		}
	}
}

// getOn writes the next event of a run, and tells whether that was the last.
func getOn(t *testing.T, run *Run) (last bool) {
	t.Helper()
	next := run.Work().Regulation
	event := &kgo.Record{Topic: schemas.TopicRawEvents, Key: strconv.AppendInt(nil, int64(next.Notified), 10)}
	next.Status = Running
	if next.Notified++; next.Notified == next.Subjects {
		next = next.End(Finished, "", noon)
	}
	err := run.Advance(t.Context(), next, []*kgo.Record{event})
	if err != nil && !errors.Is(err, ErrTakenOver) {
		t.Fatal(err)
	}
	return err == nil && next.Status.Final()
}

// die leaves a transaction open that has written what comes next.
func die(t *testing.T, run *Run) {
	t.Helper()
	if run.writer.Client().BeginTransaction() != nil {
		return
	}
	event := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte("of the dead")}
	_ = run.writer.Client().ProduceSync(t.Context(), event).FirstErr() // fenced, perhaps
	run.Close()
}

func closeRun(run *Run) {
	if run != nil {
		run.Close()
	}
}
