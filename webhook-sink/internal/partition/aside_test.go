package partition

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

// reader reads a log of a few keys, sets some aside, and reads on, as the dispatcher
// does.
type reader struct {
	*testing.T

	random  *rand.Rand
	p       Partition
	log     []*kgo.Record
	next    int
	waiting []*waiting
	ended   map[string][]int64 // offsets by key, as they ended
}

type waiting struct {
	*kgo.Record

	in  offsets.Reading
	key *Key
}

// check holds what is known of each key against what was brought of it.
func (r *reader) check() {
	r.Helper()
	for _, k := range r.p.aside.keys {
		switch {
		case !k.away && len(k.brought) == 0:
			r.Fatal("a key is back and finished, and not forgotten")
		case k.skipped < 0, !slices.IsSortedFunc(k.brought, func(a, b brought) int { return cmp.Compare(a.offset, b.offset) }):
			r.Fatalf("%v were brought, and %d are to come", k.brought, k.skipped)
		}
	}
}

func (r *reader) fetch() {
	for range min(r.random.IntN(20), len(r.log)-r.next) {
		record := r.log[r.next]
		r.next++
		if in, fresh := r.p.Accept(record); fresh {
			r.waiting = append(r.waiting, &waiting{record, in, nil})
		}
	}
}

// setAside lets go of the last events of a key.
func (r *reader) setAside() {
	if len(r.waiting) == 0 {
		return
	}
	key := r.waiting[len(r.waiting)-1].Key
	from := slices.IndexFunc(r.waiting, func(w *waiting) bool { return string(w.Key) == string(key) && w.key == nil })
	if from < 0 || !r.p.MayLeave(key) {
		return
	}
	var rest []int64
	first := r.waiting[from]
	r.waiting = slices.DeleteFunc(r.waiting, func(w *waiting) bool {
		leaves := string(w.Key) == string(key) && w.key == nil
		if leaves {
			rest = append(rest, w.Offset)
		}
		return leaves
	})
	r.p.SetAside(first.Record, rest, first.in)
}

func (r *reader) bring() {
	from, _, ok := r.p.Seek(1000, false)
	if !ok {
		return
	}
	end := min(int(from)+r.random.IntN(10), len(r.log))
	r.p.Bring(from, int64(end), r.log[from:end], func(k *Key, record *kgo.Record) bool {
		if r.random.IntN(4) == 0 {
			return false
		}
		r.waiting = append(r.waiting, &waiting{record, r.p.Reading(), k})
		return true
	})
}

// end finishes the first event of some key that waits.
func (r *reader) end() {
	if len(r.waiting) == 0 {
		return
	}
	key := string(r.waiting[r.random.IntN(len(r.waiting))].Key)
	i := slices.IndexFunc(r.waiting, func(w *waiting) bool { return string(w.Key) == key })
	w := r.waiting[i]
	r.waiting = slices.Delete(r.waiting, i, i+1)
	r.p.Finish(w.Offset, w.in, w.key)
	r.ended[key] = append(r.ended[key], w.Offset)
}

// TestKeysThatAreSetAside: each event ends once and in the order of its key, and in the
// end nothing is left but an offset behind all.
func TestKeysThatAreSetAside(t *testing.T) {
	aside := 0
	for seed := range uint64(200) {
		r := &reader{T: t, random: rand.New(rand.NewPCG(seed, 7)), p: New(crm, offsets.Done{}), ended: make(map[string][]int64)}
		const n = 300
		want := make(map[string][]int64)
		for offset := range int64(n) {
			key := fmt.Sprint("user", r.random.IntN(4))
			want[key] = append(want[key], offset)
			r.log = append(r.log, &kgo.Record{Topic: crm.Topic, Offset: offset, Key: []byte(key)})
		}
		for ended := 0; ended < n; ended = len(slices.Concat(slices.Collect(maps.Values(r.ended))...)) {
			[]func(){r.fetch, r.end, r.end, r.bring, r.setAside}[r.random.IntN(5)]()
			r.check()
			aside += r.p.Away()
		}
		for from, _, ok := r.p.Seek(1000, false); ok; from, _, ok = r.p.Seek(1000, false) { // what is behind the last event
			r.p.Bring(from, n, r.log[from:], nil)
		}
		w, dirty := r.p.Watermark()
		if !dirty || w.At.Offset != n || w.Done != offsets.Done.Encode(offsets.Done{}, n) || r.p.AsideKeys() != 0 {
			t.Fatalf("seed %d: %d would be committed and %q beyond, %d keys are set aside", seed, w.At.Offset, w.Done, r.p.AsideKeys())
		}
		for key := range want {
			if !slices.Equal(r.ended[key], want[key]) {
				t.Fatalf("seed %d: events of %s ended as %v", seed, key, r.ended[key])
			}
		}
	}
	if aside == 0 {
		t.Error("no key was ever away")
	}
}
