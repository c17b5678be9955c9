package journal_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dchest/siphash"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/seen"
	"github.com/anabranch/anabranch/internal/seen/digest"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
	"github.com/anabranch/anabranch/test/testkit"
)

func call(topic string, h schemas.Headers) *kgo.Record {
	rec := &kgo.Record{Topic: topic, Key: []byte("user")}
	kafka.SetHeaders(rec, &h)
	return rec
}

// TestPrintsAreThoseOfCopies: the fingerprint of a call is half of what copies are known
// by, wherever its record stands.
func TestPrintsAreThoseOfCopies(t *testing.T) {
	t.Parallel()
	h := schemas.Headers{Source: "web", MessageID: "m", Type: schemas.TypeTrack, Origin: schemas.OriginAPI}
	raw := call(schemas.TopicRawEvents, h)
	known, ok := digest.Of("an id").Fingerprint(raw)
	if !ok {
		t.Fatal("a call has no fingerprint")
	}
	prints := journal.PrintsOf("an id")
	if got := prints.Of(raw); got != known.High() {
		t.Errorf("%x, want the first half of %v", got, known)
	}
	h.Destination, h.Attempt, h.Origin = "crm", 3, schemas.OriginReplay
	if retry := prints.Of(call("webhook-retry.5s", h)); retry != known.High() {
		t.Errorf("%x on a retry topic, want %x", retry, known.High())
	}
	if (prints.Of(call(schemas.TopicRawEvents, schemas.Headers{})) == known.High()) || prints.Of(&kgo.Record{}) == known.High() {
		t.Error("what has no name has the fingerprint of a call")
	}
	if other := journal.PrintsOf("another id"); other.KeyID() == prints.KeyID() || other.Of(raw) == known.High() {
		t.Errorf("under another key: %x of key %x", other.Of(raw), other.KeyID())
	}
	if id := seen.KeyOf("topic", "an id").ID(); id != prints.KeyID() {
		t.Errorf("key %x, want %x", prints.KeyID(), id)
	}
}

// TestHowAPrintIsMade holds the code to docs/journal.md: others make them too.
func TestHowAPrintIsMade(t *testing.T) {
	t.Parallel()
	text := func(to []byte, all ...string) []byte {
		for _, one := range all {
			to = append(binary.AppendUvarint(to, uint64(len(one))), one...)
		}
		return to
	}
	sum := sha256.Sum256(text(nil, "anabranch fingerprints of calls", "topic", "an id"))
	high, _ := siphash.Hash128(binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:]), append(text(nil, "web", "m"), "user"...))
	name := sha256.Sum256(text(nil, "anabranch name of a key", string(sum[:16])))
	prints := journal.PrintsOf("an id")
	if got := prints.Of(call(schemas.TopicRawEvents, schemas.Headers{Source: "web", MessageID: "m"})); got != high {
		t.Errorf("%x, want %x", got, high)
	}
	if got := prints.KeyID(); got != binary.BigEndian.Uint32(name[:]) {
		t.Errorf("key %x, want %x", got, name[:4])
	}
}

// TestFindPrints: whoever asks gets the same.
func TestFindPrints(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 1, schemas.TopicRawEvents)
	admin := topics.New(c.Client(t), policy.Config{})
	a, err := journal.FindPrints(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	b, err := journal.FindPrints(t.Context(), admin)
	if err != nil || a.KeyID() != b.KeyID() || a.KeyID() == journal.PrintsOf("").KeyID() {
		t.Errorf("keys %x and %x, %v", a.KeyID(), b.KeyID(), err)
	}
}

// write puts records into the journal, those of each partition a minute after one another.
func write(t *testing.T, c *testkit.Cluster, began time.Time, inputs ...int32) {
	t.Helper()
	cl := c.Client(t, kgo.RecordPartitioner(journal.Partitioner(kgo.StickyKeyPartitioner(nil))))
	for i, num := range inputs {
		h := format.Head{Stage: "router", Topic: schemas.TopicRawEvents, Partition: num, From: int64(i), Next: int64(i) + 1, Base: began}
		var calls format.Calls
		calls.Add(&format.Call{Offset: int64(i), Source: "web", Result: format.Unconnected})
		rec := journal.Record(&h, calls.Append(nil, &h))
		rec.Timestamp = began.Add(time.Duration(i) * time.Minute)
		if err := cl.ProduceSync(t.Context(), rec).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhereRecordsGo: by the partition of the input, and of others by their key.
func TestWhereRecordsGo(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 3, schemas.TopicJournal, schemas.TopicDeadLetters)
	write(t, c, time.Now(), 0, 1, 2, 3, 4, 5)
	for _, rec := range c.ReadAll(t, schemas.TopicJournal, 6) {
		r, err := format.Decode(rec.Key, rec.Value)
		if err != nil || r.Partition%3 != rec.Partition {
			t.Errorf("%s is on partition %d, %v", rec.Key, rec.Partition, err)
		}
	}
	others := map[int32]bool{}
	cl := c.Client(t, kgo.RecordPartitioner(journal.Partitioner(kgo.StickyKeyPartitioner(nil))))
	for n := range 30 {
		rec := &kgo.Record{Topic: schemas.TopicDeadLetters, Key: fmt.Append(nil, n)}
		if err := cl.ProduceSync(t.Context(), rec).FirstErr(); err != nil {
			t.Fatal(err)
		}
		others[rec.Partition] = true
	}
	if len(others) != 3 {
		t.Errorf("other records are on partitions %v", others)
	}
}

// TestReadATime: what was written from one time to another, and what is no record of the
// journal is told.
func TestReadATime(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	if spans, err := journal.Spans(t.Context(), c.Client(t), time.Time{}, time.Time{}); err != nil || len(spans) != 0 {
		t.Errorf("without a journal: %v, %v", spans, err)
	}
	c.CreateTopics(t, 2, schemas.TopicJournal)
	cl := c.Client(t)
	c.KeepTimestamps(t, schemas.TopicJournal)
	began := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	write(t, c, began, 0, 1, 0, 1, 0, 1)
	read := func(from, to time.Time) (offsets []int64, failures int) {
		t.Helper()
		spans, err := journal.Spans(t.Context(), cl, from, to)
		if err != nil {
			t.Fatal(err)
		}
		err = journal.Read(t.Context(), c.Options(), spans, func(_ *kgo.Record, r *format.Record, err error) error {
			if err != nil {
				failures++
			} else {
				offsets = append(offsets, r.From)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(offsets)
		return offsets, failures
	}
	minute := func(n int) time.Time { return began.Add(time.Duration(n) * time.Minute) }
	for _, of := range []struct {
		from, to time.Time
		want     []int64
	}{
		{time.Time{}, time.Time{}, []int64{0, 1, 2, 3, 4, 5}},
		{minute(1), minute(4), []int64{1, 2, 3}},
		{minute(4), time.Time{}, []int64{4, 5}},
		{minute(9), minute(10), nil},
		{minute(3), minute(3), nil},
	} {
		if got, _ := read(of.from, of.to); !slices.Equal(got, of.want) {
			t.Errorf("from %v to %v: %v, want %v", of.from, of.to, got, of.want)
		}
	}
	if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: schemas.TopicJournal, Key: []byte("router/raw-events/0"), Value: []byte{9}}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if got, failures := read(time.Time{}, time.Time{}); len(got) != 6 || failures != 1 {
		t.Errorf("with a record of a later release: %d are read, %d are not", len(got), failures)
	}
}
