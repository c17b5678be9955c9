package personas

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/message"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestANewDefinitionWaitsForWhatIsForwarded: what a user did under an id of another partition,
// which is behind with its history, counts before anything is told of them.
func TestANewDefinitionWaitsForWhatIsForwarded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Traits: []engine.Trait{counted()}})
		r := b.stage(t, b.virtually)
		start(t, r)
		virtual.Sleep(5 * time.Second)
		u, a, noise := onPartition("u", 0), onPartition("a", 1), onPartition("n", 1)
		b.send(t, b.of(schemas.TypeTrack, u, a, `"event":"Hello","properties":{}`))
		virtual.Sleep(5 * time.Second)
		random := rand.New(rand.NewPCG(1, 2))
		long := make([]byte, 24<<10)
		for range 100 { // several parts of a backfill, however they are compressed
			for i := range long {
				long[i] = byte('0' + random.IntN(10))
			}
			b.send(t, b.call(schemas.TypeTrack, noise, time.Now(), fmt.Sprintf(`"event":"Noise","properties":{"n":%q}`, long)))
		}
		b.send(t, b.of(schemas.TypeTrack, "", a, `"event":"Visit","properties":{}`))
		virtual.Sleep(5 * time.Second)
		visited := audience("never", "Visit", 1, 0)
		never := visited
		never.When = definition.Cond{Not: &visited.When}
		b.definitions.Store(&engine.Definitions{Audiences: []engine.Audience{never}, Traits: []engine.Trait{counted()}})
		virtual.Sleep(30 * time.Second)
		if diff := cmp.Diff(map[string][]string{noise: {"true"}}, values(b.heard(t, 1), "never")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestPartitionsTakeUpADefinitionOneByOne: what is forwarded, or handed over, to a partition
// whose process has not heard of a definition counts for it when it has.
func TestPartitionsTakeUpADefinitionOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		before := engine.Definitions{Traits: []engine.Trait{counted()}}
		after := engine.Definitions{Traits: before.Traits, Audiences: []engine.Audience{audience("visitors", "Visit", 3, 0)}}
		b := newBench(t, testkit.Virtual(t), before)
		var late atomic.Pointer[engine.Definitions]
		late.Store(&before)
		one := b.stage(t, b.virtually)
		start(t, one)
		virtual.Sleep(5 * time.Second)
		other := b.stage(t, b.virtually, func(_ *Config, set *Settings) {
			set.TransactionalID, set.Definitions = "anabranch-personas-b", late.Load
		})
		start(t, other)
		virtual.Sleep(30 * time.Second)
		early, behind := one.processor.owned()[0], other.processor.owned()[0]
		u, a, handed := onPartition("u", behind), onPartition("a", early), onPartition("h", early)
		visit := func(ids ...string) {
			b.send(t, b.of(schemas.TypeTrack, ids[0], ids[1], `"event":"Visit","properties":{}`))
		}
		visit(u, a)
		virtual.Sleep(5 * time.Second)
		visit("", a) // which is history
		visit("", handed)
		visit("", handed)
		virtual.Sleep(5 * time.Second)
		b.heard(t, 0)
		b.definitions.Store(&after)
		virtual.Sleep(time.Second)
		visit("", a)
		v := onPartition("v", behind)
		visit(v, handed)
		virtual.Sleep(2 * time.Second)
		b.heard(t, 0)
		late.Store(&after)
		virtual.Sleep(30 * time.Second)
		want := map[string][]string{u: {"true"}, v: {"true"}}
		if diff := cmp.Diff(want, values(b.heard(t, 2), "visitors")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestWhoIsAsked are so many of the partitions that have not said yet that they are done with
// all leaves of a fill.
func TestWhoIsAsked(t *testing.T) {
	t.Parallel()
	const count = 40
	says := func(leaves ...engine.LeafID) *message.Message { return &message.Message{Num: 1, Leaves: leaves} }
	fills := []changelog.Fill{{Leaves: []engine.LeafID{2, 3}}}
	for _, m := range []*message.Message{says(2), says(3, 4)} {
		fills = filled(fills, m)
	}
	if nums := unheard(&fills[0], 0, count); len(nums) != mostAsked || nums[0] != 1 || nums[2] != 3 {
		t.Errorf("%v are asked", nums)
	}
	for range 2 {
		fills = filled(fills, says(2, 3, 4))
	}
	if nums := unheard(&fills[0], 0, count); nums[0] != 2 || len(fills[0].Heard) != 1 {
		t.Errorf("%v are asked, and %v have answered", nums, fills[0].Heard)
	}
}

// TestPartitionsTakeTurns with what is done in small steps, whichever a transaction has.
func TestPartitionsTakeTurns(t *testing.T) {
	t.Parallel()
	p := new(processor)
	for i, step := range []struct{ open, want []int32 }{
		{nil, nil},
		{[]int32{0, 3, 5}, []int32{3, 5, 0}},
		{[]int32{0, 3, 5}, []int32{5, 0, 3}},
		{[]int32{1, 2}, []int32{1, 2}},
		{nil, nil},
		{[]int32{0, 1, 2}, []int32{2, 0, 1}},
	} {
		p.open = make(map[int32]*work)
		for _, num := range step.open {
			p.open[num] = nil
		}
		if got := p.inTurn(); !slices.Equal(got, step.want) {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
	}
}

// TestAFillLeavesRoom: the calls of the past that a transaction folds are bounded, and are few
// where live ones wait for it.
func TestAFillLeavesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Traits: []engine.Trait{counted()}})
		r := b.stage(t, b.virtually)
		start(t, r)
		virtual.Sleep(5 * time.Second)
		u, live := onPartition("u", 0), onPartition("l", 0)
		const past = 8 * turnSteps
		visits := make([]*kgo.Record, past) // at once, so that they are compressed, and a part of a backfill has many
		for i := range visits {
			visits[i] = b.of(schemas.TypeTrack, u, "", `"event":"Visit","properties":{}`)
		}
		b.send(t, visits...)
		virtual.Sleep(5 * time.Second)
		filled := func() int { return int(testutil.ToFloat64(r.processor.metrics.filled)) }
		b.definitions.Store(&engine.Definitions{Audiences: []engine.Audience{audience("visitors", "Visit", past, 0)}, Traits: []engine.Trait{counted()}})
		most := 0
		for before := 0; before < past; before = filled() {
			b.send(t, b.of(schemas.TypeTrack, live, "", `"event":"Hello","properties":{}`))
			virtual.Sleep(time.Millisecond)
			most = max(most, filled()-before)
		}
		virtual.Sleep(30 * time.Second)
		if diff := cmp.Diff(map[string][]string{u: {"true"}}, values(b.heard(t, 1), "visitors")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if most > turnSteps+turnStepsOwn || most == 0 {
			t.Errorf("up to %d calls of the past were folded while a live one waited", most)
		}
	})
}
