package offsets

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEncodeAndDecode(t *testing.T) {
	tests := []struct {
		name string
		at   int64
		done Done
	}{
		{"one record", 5, Done{epoch: 2, runs: []run{{7, 8}}}},
		{"right behind the commit", 5, Done{runs: []run{{5, 9}}}},
		{"several runs", 0, Done{epoch: math.MaxInt32, runs: []run{{1, 2}, {3, 40}, {1000, 5000}}}},
		{"far out", 1 << 50, Done{epoch: 1, runs: []run{{1<<50 + 1, 1<<50 + 1<<40}}}},
	}
	for _, tt := range tests {
		text := tt.done.Encode(tt.at)
		if diff := cmp.Diff(tt.done, Decode(tt.at, text), cmp.AllowUnexported(Done{}, run{})); diff != "" {
			t.Errorf("%s: %q decoded (-want +got):\n%s", tt.name, text, diff)
		}
	}
}

func TestTheEmptySetIsTheEmptyText(t *testing.T) {
	if text := (Done{epoch: 4}).Encode(9); text != "" {
		t.Errorf("Encode() = %q, expected nothing", text)
	}
}

func TestMetadataOfOthersIsTheEmptySet(t *testing.T) {
	for _, text := range []string{
		"", "anabranch-b1946ac9", plain, deflated, deflated + "AAEB", deflated + bomb(), plain + "!", plain + "AA", plain + "AAE", // one number short
		plain + "//8", plain + "/////////////w", // unfinished and overlong numbers
		plain + "AAEA",             // an empty run
		plain + "gICAgAgBAQ",       // an epoch beyond 31 bits
		plain + "AP///////////wEB", // an offset beyond all
		plain + "AAH///////////8B", // a run beyond all
		"anabranch-done:2:AAEB",    // a later version
		" " + plain + "AAEB",       // not at the start
		plain + "AAEB" + "=",       // padding
		strings.ToUpper(plain) + "AAEB",
	} {
		if d := Decode(0, text); !d.Empty() {
			t.Errorf("Decode(%q) = %v, expected the empty set", text, d)
		}
	}
	if d := Decode(-1, plain+"AAEB"); !d.Empty() {
		t.Errorf("without a commit: %v, expected the empty set", d)
	}
}

// bomb is a payload of a few bytes that inflates to megabytes.
func bomb() string { return encoding.EncodeToString(deflate(make([]byte, 4<<20))) }

// TestRecordsThatOvertookEachOther: one key's events wait while those of others
// pass them one by one, and at random.
func TestRecordsThatOvertookEachOther(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	var regular, irregular Done
	for i := range int64(10_000) {
		if i%2 == 1 {
			regular.runs = join(regular.runs, i, i+1)
		}
		if random.IntN(2) == 1 {
			irregular.runs = join(irregular.runs, i, i+1)
		}
	}
	for name, d := range map[string]Done{"regular": regular, "irregular": irregular} {
		text := d.Encode(0)
		if len(text) > MaxEncoded {
			t.Errorf("%s: %d bytes", name, len(text))
		}
		if diff := cmp.Diff(d, Decode(0, text), cmp.AllowUnexported(Done{}, run{})); diff != "" {
			t.Errorf("%s: decoded (-want +got):\n%s", name, diff)
		}
	}
}

// TestTooManyRuns: what does not fit is left out, and what is in is right.
func TestTooManyRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	var all Done
	for i := range int64(10_000) {
		from := 1 + 1000*i + random.Int64N(400)
		all.runs = join(all.runs, from, from+1+random.Int64N(500))
	}
	text := all.Encode(0)
	if len(text) > MaxEncoded || len(text) < MaxEncoded-16 {
		t.Fatalf("%d bytes, expected just below %d", len(text), MaxEncoded)
	}
	d := Decode(0, text)
	if diff := cmp.Diff(all.runs[:len(d.runs)], d.runs, cmp.AllowUnexported(run{})); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	t.Logf("%d of %d runs in %d bytes", len(d.runs), len(all.runs), len(text))
}

func TestContains(t *testing.T) {
	d := Done{epoch: 5, runs: []run{{10, 12}, {20, 21}}}
	for offset, want := range map[int64]bool{9: false, 10: true, 11: true, 12: false, 19: false, 20: true, 21: false, 1 << 40: false} {
		if got := d.Contains(offset, 5); got != want {
			t.Errorf("Contains(%d) = %t, expected %t", offset, got, want)
		}
		if d.Contains(offset, 6) {
			t.Errorf("Contains(%d) of a later epoch = true", offset)
		}
	}
	if (Done{}).Contains(0, 0) {
		t.Error("the empty set contains something")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(int64(5), Done{epoch: 2, runs: []run{{7, 8}, {9, 100}}}.Encode(5))
	f.Add(int64(0), plain+"AAEB")
	f.Add(int64(math.MaxInt64), plain+"AAEB")
	f.Add(int64(0), deflated+encoding.EncodeToString(deflate([]byte{0, 1, 1})))
	f.Fuzz(func(t *testing.T, at int64, text string) {
		d := Decode(at, text)
		last := at
		for i, r := range d.runs {
			if r.from < last || r.to <= r.from || i > 0 && r.from == last {
				t.Fatalf("runs %v at %d: not ascending and apart", d.runs, at)
			}
			last = r.to
		}
		if d.Empty() || len(text) > MaxEncoded {
			return
		}
		if diff := cmp.Diff(d, Decode(at, d.Encode(at)), cmp.AllowUnexported(Done{}, run{})); diff != "" {
			t.Fatalf("a second time (-want +got):\n%s", diff)
		}
	})
}

// BenchmarkCommit is what one partition costs at a commit: two thousand records
// behind fifty that are unfinished.
func BenchmarkCommit(b *testing.B) {
	tr := NewTracker(Done{})
	for offset := range int64(2000) {
		tr.Begin(offset, 0, 0)
	}
	for offset := range int64(2000) {
		if offset%40 != 0 {
			tr.Finish(offset, 0)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		at, _ := tr.Position()
		if tr.Done().Encode(at) == "" {
			b.Fatal("nothing to encode")
		}
	}
}
