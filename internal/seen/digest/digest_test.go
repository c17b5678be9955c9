package digest

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/seen"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// bench is a partition of calls, with the sets of a process.
type bench struct {
	*testkit.Cluster
	client *kgo.Client
	store  *seen.Store
	calls  *Calls
	next   int64
}

const topicID = "the topic"

func newBench(tb testing.TB, c *testkit.Cluster) *bench {
	tb.Helper()
	c.CreateTopics(tb, 1, schemas.TopicRawEvents, schemas.TopicSeen)
	b := &bench{Cluster: c, client: c.Client(tb, kgo.RecordPartitioner(kgo.ManualPartitioner())), store: openStore(tb, tb.TempDir()), calls: Of(topicID)}
	tb.Cleanup(b.store.Close)
	return b
}

func openStore(tb testing.TB, dir string) *seen.Store {
	tb.Helper()
	store, err := seen.Open(seen.Options{Dir: dir, Window: 24 * time.Hour, Logger: slog.New(slog.DiscardHandler), Failed: func(string) {}})
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

func call(n int) *kgo.Record {
	rec := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte("u"), Value: []byte("{}")}
	kafka.SetHeaders(rec, &schemas.Headers{Source: "web", Type: schemas.TypeTrack, MessageID: strconv.Itoa(n), Origin: schemas.OriginAPI})
	return rec
}

// send writes calls, whose numbers are their offsets.
func (b *bench) send(t *testing.T, n int) {
	t.Helper()
	for range n {
		b.client.Produce(t.Context(), call(int(b.next)), nil)
		b.next++
	}
	if err := b.client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// digest writes one of some offsets.
func (b *bench) digest(t *testing.T, of seen.Identity, from, to int64) {
	t.Helper()
	d := digest{of: of, from: from, to: to, bucket: b.store.Bucket(time.Now())}
	for n := from; n < to; n++ {
		fp, _ := b.calls.Fingerprint(call(int(n)))
		d.fps = append(d.fps, fp)
	}
	rec := &kgo.Record{Topic: schemas.TopicSeen, Value: d.value()}
	if err := b.client.ProduceSync(t.Context(), rec).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) restore(ctx context.Context, tb testing.TB, store *seen.Store, at At) (*seen.Set, string, error) {
	tb.Helper()
	logs := new(testkit.Logs)
	r := Restorer{
		Log: logs.Logger(), Kafka: b.Options(), Client: b.client, Store: store, Window: 24 * time.Hour,
		Calls: schemas.TopicRawEvents, Digests: schemas.TopicSeen,
	}
	at.TopicID = topicID
	sets, err := r.Restore(ctx, map[int32]At{0: at})
	return sets[0], logs.String(), err
}

// knows checks that a set knows the calls below an offset, and none from there on.
func (b *bench) knows(t *testing.T, set *seen.Set, next int64) {
	t.Helper()
	if set.Next() != next {
		t.Fatalf("restored up to %d, want %d", set.Next(), next)
	}
	batch := set.Begin()
	for n := range b.next + 10 {
		fp, _ := b.calls.Fingerprint(call(int(n)))
		if known, err := batch.Seen(fp, n, time.Now()); err != nil || known != (n < next) {
			t.Fatalf("call %d of %d: known %t, %v", n, next, known, err)
		}
	}
}

// TestRestore: whatever files and digests there are, in whatever order, with gaps,
// overlaps, of others and damaged, a set is what the calls below the offset are.
func TestRestore(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8)) // the same in each run
	for round := range 4 {
		b := newBench(t, testkit.Fake(t))
		b.send(t, 600)
		next := int64(100 + random.IntN(500))
		set := b.store.Set(0, schemas.TopicRawEvents, topicID)
		of := set.Identity()
		set.Close()
		if err := b.client.ProduceSync(t.Context(), &kgo.Record{Topic: schemas.TopicSeen, Value: []byte("no digest")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		b.digest(t, seen.Identity{1}, 0, 600)
		for range random.IntN(40) {
			from := random.Int64N(590)
			b.digest(t, of, from, from+1+random.Int64N(9))
		}
		set, logs, err := b.restore(t.Context(), t, b.store, At{Next: next})
		if err != nil {
			t.Fatalf("round %d: %v\n%s", round, err, logs)
		}
		b.knows(t, set, next)
		set.Close()
		// With its files, further on, and further back: what comes again has not been.
		for _, other := range []int64{next, min(next+50, 600), next / 2} {
			if set, logs, err = b.restore(t.Context(), t, b.store, At{Next: other}); err != nil {
				t.Fatalf("round %d: %v\n%s", round, err, logs)
			}
			b.knows(t, set, other)
			set.Close()
		}
	}
}

// TestADigestSavesTheCalls: they are not read where it says what they were.
func TestADigestSavesTheCalls(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	b.send(t, 300)
	set := b.store.Set(0, schemas.TopicRawEvents, topicID)
	b.digest(t, set.Identity(), 0, 200)
	b.digest(t, set.Identity(), 150, 290)
	set.Close()
	set, logs, err := b.restore(t.Context(), t, b.store, At{Next: 300})
	if err != nil {
		t.Fatal(err)
	}
	b.knows(t, set, 300)
	for _, part := range []string{"from_digests=340", "from_calls=10"} {
		if !strings.Contains(logs, part) {
			t.Errorf("no %s in\n%s", part, logs)
		}
	}
}

// TestARestoreThatIsCutOff leaves nothing open, and is done again.
func TestARestoreThatIsCutOff(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	b.send(t, 100)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("a rebalance"))
	if _, _, err := b.restore(ctx, t, b.store, At{Next: 100}); err == nil {
		t.Fatal("it was not cut off")
	}
	set, _, err := b.restore(t.Context(), t, b.store, At{Next: 100})
	if err != nil {
		t.Fatal(err)
	}
	b.knows(t, set, 100)
}

// TestTheWriter writes what has committed, before long, and what others know by it.
func TestTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t))
		b.send(t, 40_000)
		w, err := NewWriter(b.Options(), schemas.TopicSeen, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); w.Run(ctx) }()
		set := b.store.Set(0, schemas.TopicRawEvents, topicID)
		set.Add(0, 0, nil)
		batch := set.Begin()
		transact := func(to int64) {
			from := set.Next()
			for n := from; n < to; n++ {
				fp, _ := b.calls.Fingerprint(call(int(n)))
				if _, err := batch.Seen(fp, n, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			w.Add(0, from, to, batch)
			batch.Commit(to)
		}
		transact(39_000)
		transact(39_500)
		virtual.Sleep(oldest + 2*lookEvery)
		b.ReadAll(t, schemas.TopicSeen, 3)
		transact(39_600)
		w.Lost(0)
		b.ReadAll(t, schemas.TopicSeen, 4)
		transact(40_000)
		stop()
		<-ended
		last := int64(0)
		for _, rec := range b.ReadAll(t, schemas.TopicSeen, 5) {
			d, err := parse(rec.Value)
			if err != nil || d.from != last || int(d.to-d.from) != len(d.fps) || len(d.fps) > Most {
				t.Errorf("digest of %d to %d behind %d with %d calls, %v", d.from, d.to, last, len(d.fps), err)
			}
			last = d.to
		}
		if last != 40_000 {
			t.Errorf("digests up to %d", last)
		}
		set.Close()
	})
}

// TestFingerprintsAreOfTheHeaders that schemas writes.
func TestFingerprintsAreOfTheHeaders(t *testing.T) {
	t.Parallel()
	of := func(key string, h schemas.Headers) (seen.Fingerprint, bool) {
		rec := &kgo.Record{Key: []byte(key)}
		kafka.SetHeaders(rec, &h)
		return Of("t").Fingerprint(rec)
	}
	whole := schemas.Headers{Source: "web", MessageID: "m", Origin: schemas.OriginAPI}
	base, ok := of("u", whole)
	if !ok {
		t.Fatal("a call has no fingerprint")
	}
	for name, c := range map[string]struct {
		key     string
		headers schemas.Headers
		none    bool
	}{
		"another user":      {"v", whole, false},
		"another source":    {"u", schemas.Headers{Source: "app", MessageID: "m"}, false},
		"another messageId": {"u", schemas.Headers{Source: "web", MessageID: "n"}, false},
		"no messageId":      {"u", schemas.Headers{Source: "web"}, true},
		"no source":         {"u", schemas.Headers{MessageID: "m"}, true},
		"sent again":        {"u", schemas.Headers{Source: "web", MessageID: "m", Origin: schemas.OriginReplay}, true},
	} {
		if fp, ok := of(c.key, c.headers); ok == c.none || fp == base {
			t.Errorf("%s: the same fingerprint, or none: %t", name, !ok)
		}
	}
}

// FuzzParse: what is read is what would be written.
func FuzzParse(f *testing.F) {
	d := digest{of: seen.Identity{1}, from: 3, to: 9, bucket: 2}
	f.Add(d.value())
	f.Add([]byte{layout})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := parse(b)
		if err == nil && cmp.Diff(b, d.value()) != "" {
			t.Errorf("%x is read as %x", b, d.value())
		}
	})
}

// TestDigestsOutliveTheHorizon, with what has not expired since buckets expire as a whole,
// and the slack of clocks.
func TestDigestsOutliveTheHorizon(t *testing.T) {
	t.Parallel()
	store := openStore(t, t.TempDir())
	defer store.Close()
	const window = 24 * time.Hour
	kept, err := policy.Config{Remembered: window}.Of(schemas.TopicSeen)
	if err != nil {
		t.Fatal(err)
	}
	ms, err := strconv.ParseInt(kept.Configs[policy.RetentionMs], 10, 64)
	if least := window + store.Width() + slack; err != nil || time.Duration(ms)*time.Millisecond < least {
		t.Errorf("digests are kept for %d ms, want %s at least (%v)", ms, least, err)
	}
}
