package personas

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/enginetest"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestWhatIsUnusualIsCounted, when it is committed: each call once, and that of a backfill,
// which was counted when it came, no more.
func TestWhatIsUnusualIsCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		aggregated := func(id string, take definition.Aggregate, within time.Duration) engine.Trait {
			return engine.Trait{Version: 1, Trait: definition.Trait{Common: common(id), Take: take, Of: definition.Path{"n"}, Event: trackEvent("Order", within), MaxValues: 1}}
		}
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Traits: []engine.Trait{
			aggregated("revenue", definition.Sum, time.Hour), aggregated("last", definition.Unique, 0),
		}})
		r := b.stage(t, b.virtually)
		start(t, r)
		virtual.Sleep(5 * time.Second)
		order := func(n string, at time.Time) *kgo.Record {
			return b.call(schemas.TypeTrack, "u", at, fmt.Sprintf(`"event":"Order","properties":{"n":%s}`, n))
		}
		now := time.Now()
		b.send(t, order("1", now), order(`"1"`, now), order(fmt.Sprintf("%q", strings.Repeat("x", engine.MaxValueBytes)), now),
			order("1", now.Add(24*time.Hour)), order("2", now.Add(-24*365*10*time.Hour)))
		virtual.Sleep(5 * time.Second)
		// Of the value that is ten years old the sum knows nothing, and the set, which is full, lets go
		// of it at once.
		want := map[string]float64{"not_number": 2, "too_long": 1, "set_full": 3, "future": 1, "old": 1, "record_full": 0, "broken": 0}
		counted := func() map[string]float64 {
			got := make(map[string]float64)
			for what := range want {
				got[what] = testutil.ToFloat64(r.processor.metrics.unusual.WithLabelValues(what))
			}
			return got
		}
		if diff := cmp.Diff(want, counted()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		d := *b.definitions.Load()
		d.Audiences = append(d.Audiences, audience("recent", "Order", 1, time.Minute))
		b.definitions.Store(&d)
		virtual.Sleep(20 * time.Second)
		if diff := cmp.Diff(want, counted()); diff != "" {
			t.Errorf("after a backfill (-want +got):\n%s", diff)
		}
	})
}

// TestARecordThatWouldBeTooLong for a broker loses what is oldest, which is counted, and its
// user is told of what is newest.
func TestARecordThatWouldBeTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const notes = 2 * engine.MaxRecordBytes / 4000
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Traits: []engine.Trait{{Version: 1, Trait: definition.Trait{
			Common: common("notes"), Take: definition.Unique, Of: definition.Path{"n"}, Event: trackEvent("Note", 0), MaxValues: definition.MaxMaxValues,
		}}}})
		r := b.stage(t, b.virtually)
		start(t, r)
		virtual.Sleep(5 * time.Second)
		for i := range notes {
			b.send(t, b.call(schemas.TypeTrack, "u", time.Now(), fmt.Sprintf(`"event":"Note","properties":{"n":"%d%s"}`, i, strings.Repeat("x", 4000))))
			virtual.Sleep(time.Second)
		}
		virtual.Sleep(5 * time.Second)
		shed := testutil.ToFloat64(r.processor.metrics.unusual.WithLabelValues("record_full"))
		longest := 0
		for _, rec := range b.all(t, schemas.TopicPersonasChangelog) {
			longest = max(longest, len(rec.Value))
		}
		if shed == 0 || longest > engine.MaxRecordBytes || longest < engine.MaxRecordBytes/2 {
			t.Errorf("%g times something was let go, and the longest record has %d bytes", shed, longest)
		}
		all := values(b.heard(t, notes), "notes")["u"]
		if last := all[len(all)-1]; !strings.Contains(last, fmt.Sprintf(`"%dx`, notes-1)) || strings.Contains(last, `"0x`) {
			t.Errorf("the newest is not among what was told last, or the oldest is: %.40s", last)
		}
	})
}

// TestAHotUser: however many calls a user makes, a transaction writes them once, and what is
// kept of them does not grow.
func TestAHotUser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const calls = 5000
		b := newBench(t, testkit.Virtual(t), enginetest.Shop(20))
		r := b.stage(t, b.virtually)
		start(t, r)
		virtual.Sleep(5 * time.Second)
		records := make([]*kgo.Record, calls)
		for i := range records {
			records[i] = b.call(schemas.TypeTrack, "hot", time.Now(), fmt.Sprintf(`"event":"Event %d","properties":{"total":%d,"category":"c%d"}`, i%6, i%50, i))
		}
		b.send(t, records...)
		virtual.Sleep(time.Minute)
		if n := testutil.ToFloat64(r.processor.metrics.events.WithLabelValues(folded)); n != calls {
			t.Fatalf("%g calls were folded", n)
		}
		written, size := 0, 0
		for _, rec := range b.all(t, schemas.TopicPersonasChangelog) {
			if !changelog.Reserved(string(rec.Key)) {
				written, size = written+1, len(rec.Value)
			}
		}
		if transactions := testutil.ToFloat64(r.processor.metrics.committed); float64(written) > transactions || transactions > calls/10 {
			t.Errorf("the user was written %d times in %g transactions", written, transactions)
		}
		if size > 8<<10 {
			t.Errorf("their record has %d bytes", size)
		}
	})
}

// TestManyDefinitionsAtOnce, of many windows and one of as many conditions as there may be,
// are filled by reading the log once, and tell what they would have told one by one.
func TestManyDefinitionsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const users, calls = 6, 60
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Traits: []engine.Trait{counted()}})
		r := b.stage(t, b.virtually)
		start(t, r)
		virtual.Sleep(5 * time.Second)
		d := enginetest.Shop(200)
		d.Traits = append(d.Traits, counted())
		large := audience("large", "Event 0", 1, 0)
		large.When = definition.Cond{}
		for i := range definition.MaxLeaves {
			large.When.Any = append(large.When.Any, audience("", fmt.Sprintf("Event %d", i), float64(2+i%3), time.Duration(1+i)*24*time.Hour).When)
		}
		d.Audiences = append(d.Audiences, large)
		c, err := engine.Compile(d)
		if err != nil {
			t.Fatal(err)
		}
		profiles := make(map[string]*engine.Profile)
		for i := range calls {
			user := fmt.Sprint("u", i%users)
			rec := b.call(schemas.TypeTrack, user, time.Now(), fmt.Sprintf(`"event":"Event %d","properties":{"total":%d,"category":"c%d"}`, i*7%13, i*20, i%4))
			b.send(t, rec)
			h, err := kafka.HeadersOf(rec)
			if err != nil {
				t.Fatal(err)
			}
			call := engine.Call{Offset: rec.Offset}
			if err = engine.ParseCall(&call, rec.Value, &h, rec.Timestamp); err != nil {
				t.Fatal(err)
			}
			if profiles[user] == nil {
				profiles[user] = c.NewProfile()
			}
			c.Fold(profiles[user], &call, nil)
		}
		virtual.Sleep(5 * time.Second)
		b.definitions.Store(&d)
		virtual.Sleep(30 * time.Second)
		want, n := make(map[string]string), 0
		for user, p := range profiles {
			for _, change := range c.Advance(p, time.Now(), nil, engine.CauseEdit) {
				if n++; change.Class == engine.ClassAudience {
					change.Value = fmt.Append(nil, change.Member)
				}
				want[user+" "+change.Key] = string(change.Value)
			}
		}
		got := make(map[string]string)
		for _, change := range b.heard(t, n) {
			got[change.User+" "+change.Key] = change.Value
		}
		if diff := cmp.Diff(want, got); diff != "" || n < 200 {
			t.Errorf("%d changes (-want +got):\n%s", n, diff)
		}
		if filled := testutil.ToFloat64(r.processor.metrics.filled); filled != calls {
			t.Errorf("%g records were read once more, expected %d", filled, calls)
		}
	})
}
