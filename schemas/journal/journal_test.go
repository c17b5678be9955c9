package journal_test

import (
	"encoding/hex"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

var update = flag.Bool("update", false, "write the golden files")

var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

// someCalls are calls as a router has them, at offsets with gaps, as markers leave them.
func someCalls(random *rand.Rand, n int) []journal.Call {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	kinds := []journal.Call{
		{Source: "web", Result: journal.Unconnected},
		{Source: "", Result: journal.CallDead, Reason: schemas.ReasonRecordInvalid},
		{Source: "app", Result: journal.Duplicate},
	}
	for range 1 + random.IntN(90) {
		routed := journal.Call{Source: pick("web", "app", "personas"), Result: journal.Routed}
		for range 1 + random.IntN(4) {
			d := journal.Decision{Destination: "d" + strconv.Itoa(random.IntN(9)), Result: journal.DecisionResult(1 + random.IntN(3))}
			if d.Result != journal.Sent {
				d.Why = pick("All", "all", "CRM", journal.WhyOnly, "Größe")
			}
			routed.Decisions = append(routed.Decisions, d)
		}
		kinds = append(kinds, routed)
	}
	all := make([]journal.Call, n)
	at, kind := random.Int64N(1<<40), 0
	for i := range all {
		if at++; random.IntN(20) == 0 {
			at += random.Int64N(5)
		}
		if random.IntN(4) == 0 {
			kind = random.IntN(len(kinds))
		}
		all[i] = kinds[kind]
		all[i].Offset, all[i].Fingerprint = at, random.Uint64()
	}
	return all
}

func someAttempts(random *rand.Rand, n int) []journal.Attempt {
	all := make([]journal.Attempt, n)
	at, ended := random.Int64N(1<<40)+1000, noon
	for i := range all {
		at += random.Int64N(7) - 3
		ended = ended.Add(time.Duration(random.Int64N(200)-50) * time.Millisecond)
		a := journal.Attempt{
			Offset: at, Fingerprint: random.Uint64(), Destination: "d" + strconv.Itoa(random.IntN(2)), Source: "web",
			Outcome: journal.Outcome(1 + random.IntN(5)), At: ended, Number: random.IntN(4), Withheld: random.IntN(2),
			Endpoints: uint8(random.IntN(4)), Took: time.Duration(random.IntN(3000)) * time.Millisecond,
		}
		if a.Outcome != journal.Delivered {
			a.Reason = schemas.ReasonTimeout
		}
		if a.Outcome.Waits() {
			a.Until, a.Topic = ended.Add(time.Duration(random.Int64N(1e6)-100)*time.Millisecond), schemas.RetryTopic(5*time.Second)
		}
		all[i] = a
	}
	return all
}

// replayed makes some of the attempts those of replays.
func replayed(random *rand.Rand, all []journal.Attempt) []journal.Attempt {
	for i := range all {
		if n := random.IntN(4); n > 1 {
			all[i].Run = "run-" + strconv.Itoa(n)
		}
	}
	return all
}

func head(stage, topic string) journal.Head {
	return journal.Head{Stage: stage, Topic: topic, Partition: 3, KeyID: 0xdeadbeef, Base: noon}
}

func encodeCalls(into *journal.Calls, all []journal.Call) (key, value []byte) {
	into.Reset()
	h := head("router", schemas.TopicRawEvents)
	h.From, h.Next = all[0].Offset-1, all[len(all)-1].Offset+2
	scratch := make([]journal.Decision, 0, 8)
	for i := range all {
		call := all[i]
		scratch = append(scratch[:0], call.Decisions...)
		call.Decisions = scratch // the encoder must not keep it
		into.Add(&call)
	}
	return h.Key(), into.Append(nil, &h)
}

func encodeAttempts(into *journal.Attempts, all []journal.Attempt, lost int) (key, value []byte) {
	into.Reset()
	h := head("webhook-sink", schemas.DeliverTopic("crm"))
	for i := range all {
		into.Add(&all[i])
	}
	h.From, h.Next = into.Range()
	h.Lost = lost
	return h.Key(), into.Append(nil, &h)
}

func sameCall(a, b journal.Call) bool {
	same := slices.Equal(a.Decisions, b.Decisions)
	return same && a.Offset == b.Offset && a.Fingerprint == b.Fingerprint && a.Source == b.Source && a.Result == b.Result && a.Reason == b.Reason
}

// TestRoundTrip: what is decoded is what was encoded.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	var calls journal.Calls
	var attempts journal.Attempts
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		wantCalls := someCalls(random, 1+random.IntN(400))
		key, value := encodeCalls(&calls, wantCalls)
		r, err := journal.Decode(key, value)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		h := head("router", schemas.TopicRawEvents)
		h.From, h.Next = wantCalls[0].Offset-1, wantCalls[len(wantCalls)-1].Offset+2
		if got := slices.Collect(r.Calls()); r.Head != h || !r.OfCalls() || r.Len() != len(got) || !slices.EqualFunc(got, wantCalls, sameCall) {
			t.Fatalf("seed %d: calls are read as others", seed)
		}
		wantAttempts := someAttempts(random, 1+random.IntN(400))
		if seed%2 == 0 {
			replayed(random, wantAttempts)
		}
		key, value = encodeAttempts(&attempts, wantAttempts, int(seed))
		if r, err = journal.Decode(key, value); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got := slices.Collect(r.Attempts()); r.Lost != int(seed) || r.OfCalls() || r.Len() != len(got) || !slices.Equal(got, wantAttempts) {
			t.Fatalf("seed %d: attempts are read as others", seed)
		}
	}
}

// TestAnEmptyRecord says that entries were lost, and nothing else.
func TestAnEmptyRecord(t *testing.T) {
	t.Parallel()
	h := journal.Head{Stage: "webhook-sink", Topic: "deliver.crm", From: 7, Next: 7, Lost: 12, Base: noon}
	var none journal.Attempts
	r, err := journal.Decode(h.Key(), none.Append(nil, &h))
	if err != nil || r.Head != h || r.Len() != 0 || len(slices.Collect(r.Attempts())) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestTextsAreBounded: a name of any length, or of bytes that are no text, is written.
func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		strings.Repeat("ä", 200): strings.Repeat("ä", 124),
		"a\xffb":                 "a\uFFFDb",
		"short":                  "short",
	} {
		_, value := encodeCalls(new(journal.Calls), []journal.Call{{Offset: 1, Source: text, Result: journal.Unconnected}})
		r, err := journal.Decode([]byte("router/raw-events/0"), value)
		if err != nil {
			t.Fatal(err)
		}
		for call := range r.Calls() {
			if call.Source != want {
				t.Errorf("%q is written as %q, want %q", text, call.Source, want)
			}
		}
	}
}

// TestWhatIsNoRecord: each cut of a record is refused, and what follows one is.
func TestWhatIsNoRecord(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 5))
	routerKey, ofRouter := encodeCalls(new(journal.Calls), someCalls(random, 20))
	sinkKey, ofSink := encodeAttempts(new(journal.Attempts), someAttempts(random, 20), 0)
	_, ofReplay := encodeAttempts(new(journal.Attempts), replayed(random, someAttempts(random, 20)), 0)
	for _, of := range []struct{ key, value []byte }{{routerKey, ofRouter}, {sinkKey, ofSink}, {sinkKey, ofReplay}} {
		for n := range of.value {
			if _, err := journal.Decode(of.key, of.value[:n]); err == nil {
				t.Errorf("%s: the first %d bytes of %d are taken", of.key, n, len(of.value))
			}
		}
		if _, err := journal.Decode(of.key, append(slices.Clip(of.value), 0)); err == nil || !strings.Contains(err.Error(), "1 bytes follow") {
			t.Errorf("%s: a byte behind it: %v", of.key, err)
		}
		later := slices.Clone(of.value)
		later[0] = 9
		var version *journal.VersionError
		if _, err := journal.Decode(of.key, later); !errors.As(err, &version) || version.Version != 9 {
			t.Errorf("%s: of a later version: %v", of.key, err)
		}
		other := slices.Clone(of.value)
		other[1] = 'x'
		if _, err := journal.Decode(of.key, other); err == nil || !strings.Contains(err.Error(), "kind") {
			t.Errorf("%s: of another kind: %v", of.key, err)
		}
	}
	ofRouter[0] = 2
	var version *journal.VersionError
	if _, err := journal.Decode(routerKey, ofRouter); !errors.As(err, &version) {
		t.Errorf("calls of version 2: %v", err)
	}
	ofRouter[0] = 1
	for _, key := range []string{"", "router", "router/raw-events", "router/raw-events/", "router/raw-events/x", "router/raw-events/-1", "router/raw-events/01", "router//1", "/raw-events/1", "Router/raw-events/1", "router/raw-events/1/2", "router/raw-events/99999999999"} {
		if _, err := journal.Decode([]byte(key), ofRouter); err == nil || !strings.Contains(err.Error(), "key") {
			t.Errorf("key %q is taken: %v", key, err)
		}
	}
}

// TestBytesOfAnEntry: what an entry costs where many have the same in common.
func TestBytesOfAnEntry(t *testing.T) {
	t.Parallel()
	const n = 2000
	calls := make([]journal.Call, n)
	attempts := make([]journal.Attempt, n)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		calls[i] = journal.Call{Offset: int64(i) + 1, Fingerprint: random.Uint64(), Source: "web", Result: journal.Routed, Decisions: []journal.Decision{{Destination: "crm", Result: journal.Sent}}}
		attempts[i] = journal.Attempt{
			Offset: int64(i) + 1, Fingerprint: random.Uint64(), Source: "web", Destination: "crm", Outcome: journal.Delivered,
			Number: 1, Endpoints: 1, Took: 200 * time.Millisecond, At: noon.Add(time.Duration(i) * time.Millisecond),
		}
	}
	_, ofRouter := encodeCalls(new(journal.Calls), calls)
	_, ofSink := encodeAttempts(new(journal.Attempts), attempts, 0)
	if len(ofRouter) > 9*n || len(ofSink) > 14*n {
		t.Errorf("%d calls take %d bytes, want 9 each at most; attempts %d, want 14", n, len(ofRouter), len(ofSink))
	}
}

// TestGolden: records that earlier releases wrote are read, and written the same.
func TestGolden(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	calls, attempts := someCalls(random, 12), someAttempts(random, 8)
	replays := replayed(random, slices.Clone(attempts))
	for name, encode := range map[string]func() (key, value []byte){
		"router-1":       func() (key, value []byte) { return encodeCalls(new(journal.Calls), calls) },
		"webhook-sink-1": func() (key, value []byte) { return encodeAttempts(new(journal.Attempts), attempts, 2) },
		"webhook-sink-2": func() (key, value []byte) { return encodeAttempts(new(journal.Attempts), replays, 2) },
	} {
		key, value := encode()
		file := filepath.Join("testdata", name+".hex")
		text := string(key) + "\n" + hex.EncodeToString(value) + "\n"
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(golden) != text {
			t.Errorf("%s: written as\n%s", name, text)
		}
		want := map[string][]journal.Attempt{"webhook-sink-1": attempts, "webhook-sink-2": replays}[name]
		if r, err := journal.Decode(key, value); err != nil || !slices.EqualFunc(slices.Collect(r.Calls()), map[bool][]journal.Call{true: calls}[r.OfCalls()], sameCall) ||
			!slices.Equal(slices.Collect(r.Attempts()), want) {
			t.Errorf("%s is read as other entries: %v", name, err)
		}
	}
}

// FuzzDecode: bytes are refused, or what they say can be written and read again.
func FuzzDecode(f *testing.F) {
	random := rand.New(rand.NewPCG(2, 3))
	for n := range 4 {
		key, value := encodeCalls(new(journal.Calls), someCalls(random, 1+n*5))
		f.Add(key, value)
		key, value = encodeAttempts(new(journal.Attempts), someAttempts(random, 1+n*5), n)
		f.Add(key, value)
		key, value = encodeAttempts(new(journal.Attempts), replayed(random, someAttempts(random, 1+n*5)), n)
		f.Add(key, value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		r, err := journal.Decode(key, value)
		if err != nil {
			return
		}
		var again []byte
		calls, attempts := slices.Collect(r.Calls()), slices.Collect(r.Attempts())
		if len(calls)+len(attempts) != r.Len() {
			t.Fatalf("%d calls and %d attempts of %d", len(calls), len(attempts), r.Len())
		}
		var c journal.Calls
		var a journal.Attempts
		for i := range calls {
			c.Add(&calls[i])
		}
		for i := range attempts {
			a.Add(&attempts[i])
		}
		if r.OfCalls() {
			again = c.Append(nil, &r.Head)
		} else {
			again = a.Append(nil, &r.Head)
		}
		second, err := journal.Decode(key, again)
		if err != nil || second.Head != r.Head || !slices.EqualFunc(calls, slices.Collect(second.Calls()), sameCall) || !slices.EqualFunc(attempts, slices.Collect(second.Attempts()), sameEnd) {
			t.Fatalf("written again it is another: %v", err)
		}
	})
}

// sameEnd compares what is written: where something waits is said of what waits alone.
func sameEnd(a, b journal.Attempt) bool {
	if !a.Outcome.Waits() {
		a.Topic, b.Topic = "", ""
	}
	return a == b
}

func BenchmarkAddCalls(b *testing.B) {
	calls := someCalls(rand.New(rand.NewPCG(1, 2)), 2000)
	one := journal.Call{Source: "web", Result: journal.Routed, Decisions: []journal.Decision{{Destination: "crm", Result: journal.Sent}, {Destination: "warehouse", Result: journal.Sent}}}
	for name, all := range map[string][]journal.Call{"varied": calls, "alike": slices.Repeat([]journal.Call{one}, 2000)} {
		for i := range all {
			all[i].Offset = int64(i)
		}
		b.Run(name, func(b *testing.B) {
			var c journal.Calls
			var value []byte
			h := head("router", schemas.TopicRawEvents)
			h.Next = 2000
			for b.Loop() {
				c.Reset()
				for i := range all {
					c.Add(&all[i])
				}
				value = c.Append(value[:0], &h)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2000, "ns/call")
			b.ReportMetric(float64(len(value))/2000, "B/call")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	ofRouter, router := encodeCalls(new(journal.Calls), someCalls(random, 2000))
	ofSink, sink := encodeAttempts(new(journal.Attempts), someAttempts(random, 2000), 0)
	for name, of := range map[string][2][]byte{"calls": {ofRouter, router}, "attempts": {ofSink, sink}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var sum uint64
			for b.Loop() {
				r, err := journal.Decode(of[0], of[1])
				if err != nil {
					b.Fatal(err)
				}
				for c := range r.Calls() {
					sum += c.Fingerprint
				}
				for a := range r.Attempts() {
					sum += a.Fingerprint
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2000, "ns/entry")
		})
	}
}
