package ask

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/spill"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestMemoryOfAPreview: what a preview holds does not grow with users, with those who have
// other ids, or with calls.
func TestMemoryOfAPreview(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const users, most = 100_000, 48 << 20
	c, err := engine.Compile(engine.Definitions{Audiences: []engine.Audience{audience(t, `{"id":"buyers","when":{"did":"Order Completed","times":{"gte":3},"within":"7d"}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	largest, looked, members := uint64(0), 0, 0
	weigh := func() {
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		largest = max(largest, memory.HeapAlloc)
	}
	r := &replay{log: &Log{}, c: c, refold: lacking, look: func(u *computed) error {
		if looked++; looked%(users/10) == 0 {
			weigh()
		}
		members += len(u.changes)
		return nil
	}}
	r.begin()
	defer r.later.close()
	now := time.Now().UTC().Truncate(time.Millisecond)
	p := &part{replay: r, meta: new(place), users: spill.New(nil), Extent: &Extent{Clock: now, Offset: 1 << 40}}
	defer p.users.Close()
	p.wants()
	for i := range users {
		kept := c.NewProfile()
		if i%2 == 0 {
			kept.Link(user(i)+"@elsewhere", now)
		}
		if err := p.put(user(i), c.Append(appendNote(p.note[:0], held, user(i)), kept)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 * users {
		rec := bought(user(i%users), i, now.Add(-time.Hour))
		if err := p.take(rec, &schemas.Headers{Source: "website", Type: schemas.TypeTrack, MessageID: fmt.Sprint("m-", i)}); err != nil {
			t.Fatal(err)
		}
	}
	weigh()
	if err := p.evaluate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if looked != users || members != users {
		t.Errorf("%d of %d users were computed, %d are members", looked, users, members)
	}
	t.Logf("%d users, %d calls: %d MiB of memory, %d and %d MiB put aside", users, 3*users, largest>>20, p.users.Aside()>>20, r.later.kept.Aside()>>20)
	if largest > most {
		t.Errorf("%d MiB of memory, expected at most %d", largest>>20, most>>20)
	}
}

func user(i int) string { return fmt.Sprintf("user-%08d", i) }

// bought is a call on raw-events, of half a kilobyte as most are.
func bought(user string, n int, at time.Time) *kgo.Record {
	value := fmt.Sprintf(`{"type":"track","messageId":"m-%d","userId":%q,"event":"Order Completed","properties":{"total":%d,"note":"%0300d"},"timestamp":%q,"context":{}}`,
		n, user, n%100, n*7919, at.Format(schemas.TimeLayout))
	return &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte(user), Value: []byte(value), Timestamp: at, Offset: int64(n)}
}

// TestAPreviewTakesSoMuchDisk and no more, where there is a bound.
func TestAPreviewTakesSoMuchDisk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := newBench(t, testkit.Brokers(t), engine.Definitions{})
	b.Aside = 1 << 10
	at := time.Now().UTC()
	records := make([]*kgo.Record, 1_000)
	for n := range records {
		records[n] = bought(user(0), n, at)
		records[n].Headers = b.track("", "", `{}`).Headers
	}
	b.send(t, records...)
	next := Workspace{defined: engine.Definitions{Audiences: []engine.Audience{audience(t, `{"id":"buyers","when":{"did":"Order Completed"}}`)}}}
	if _, err := Changes(t.Context(), &b.Log, next, ""); !errors.Is(err, spill.ErrFull) {
		t.Errorf("got %v", err)
	}
}

// TestWhoHasOtherIDs: what a preview says of users who turned out to be one is what the stage
// then tells, also of one who was merged into somebody who was merged on.
func TestWhoHasOtherIDs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		chain := []string{"first", "second", "third", "fourth"}
		homes := make(map[int32]bool)
		for i, id := range chain {
			homes[home(id, partitions)] = true
			b.send(t, b.track(id, "Order Completed", `{"category":"gloves"}`))
			settle()
			if i > 0 {
				b.send(t, b.call(schemas.TypeAlias, id, fmt.Sprintf(`"previousId":%q`, chain[i-1])))
				settle()
			}
		}
		if len(homes) < 2 {
			t.Fatal("all ids are on one partition")
		}
		next := shop(t)
		next.Audiences = append(next.Audiences, audience(t, fmt.Sprintf(`{"id":"gloves","when":{"did":"Order Completed","where":{"category":"gloves"},"times":{"eq":%d}}}`, len(chain))))
		p, err := Changes(t.Context(), &b.Log, Workspace{defined: next}, "gloves")
		if err != nil || len(p.Definitions) != 1 || len(p.Definitions[0].Sample) != 1 {
			t.Fatalf("%+v, %v", p, err)
		}
		begun := time.Now().Add(-time.Second)
		b.apply(next)
		settle()
		told, _, err := b.told(t.Context(), nil, Span{Since: begun}, func(told *Told) bool { return told.Key == "gloves" })
		if err != nil || len(told) != 1 || told[0].UserID != p.Definitions[0].Sample[0].UserID {
			t.Errorf("%s was to enter, told: %+v, %v", p.Definitions[0].Sample[0].UserID, told, err)
		}
		virtual.Sleep(time.Second)
		if v, err := Check(t.Context(), &b.Log); err != nil || v.Differences != 0 {
			t.Errorf("a check: %+v, %v", v, err)
		}
	})
}

// TestHandedOn: what was folded of an id goes to the last of those it was merged into, a
// circle has none.
func TestHandedOn(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	c, err := engine.Compile(engine.Definitions{Audiences: []engine.Audience{audience(t, `{"id":"buyers","when":{"did":"Order Completed","times":{"gte":3}}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int)
	r := &replay{log: &Log{}, c: c, refold: lacking, look: func(u *computed) error {
		got[u.id] += len(u.changes)
		return nil
	}}
	r.begin()
	defer r.later.close()
	now := time.Now().UTC().Truncate(time.Millisecond)
	merged := func(id, into string) {
		p := &row{before: c.NewProfile(), profile: c.NewProfile()}
		p.before.Redirect = into
		fold(t, c, p.profile, id, now)
		if err := r.later.redirect(r, id, p); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		merged(fmt.Sprint("a", i), fmt.Sprint("a", i+1))
	}
	kept := &row{before: c.NewProfile(), profile: c.NewProfile(), record: c.Append(nil, c.NewProfile())}
	if err := r.later.keep(r, "a3", kept, now); err != nil {
		t.Fatal(err)
	}
	if err := r.merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"a3": 1}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	merged("b0", "b1")
	merged("b1", "b0")
	if err := r.merge(t.Context()); err == nil {
		t.Error("a circle has an end")
	}
}

func fold(t *testing.T, c *engine.Catalogue, p *engine.Profile, user string, at time.Time) {
	t.Helper()
	var call engine.Call
	rec := bought(user, 1, at)
	if err := engine.ParseCall(&call, rec.Value, &schemas.Headers{Type: schemas.TypeTrack, MessageID: user}, at); err != nil {
		t.Fatal(err)
	}
	c.Fold(p, &call, nil)
}
