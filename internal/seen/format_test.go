package seen

import (
	"bytes"
	"math"
	"slices"
	"testing"
)

// written is the file of a run.
func written(tb testing.TB, ext extent, all []Fingerprint) []byte {
	tb.Helper()
	var b bytes.Buffer
	if _, err := writeRun(&b, Identity{1, 2, 3}, ext, len(all), each(sorted(all))); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// TestARunHasWhatWasWritten, and nothing else, whatever its size.
func TestARunHasWhatWasWritten(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 3, perPage - 1, perPage, perPage + 1, 10 * perPage, 5000} {
		all := fps(0, n)
		if n > 10 { // halves that are equal, over the edges of pages too
			for i := range n {
				all[i].hi = all[i/300*300].hi
			}
		}
		b := written(t, extent{5, 9, 7, 6}, all)
		r, err := openRun(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatalf("%d: %v", n, err)
		}
		if r.count != n || r.extent != (extent{5, 9, 7, 6}) || r.of != (Identity{1, 2, 3}) {
			t.Errorf("%d: opened as %d of %v", n, r.count, r.extent)
		}
		for _, f := range all {
			if known, err := r.has(f); !known || err != nil {
				t.Fatalf("%d: %x is not there, %v", n, f, err)
			}
		}
		for _, f := range fps(n, n+2000) {
			if known, err := r.has(f); known || err != nil {
				t.Fatalf("%d: %x is there, %v", n, f, err)
			}
		}
	}
}

// TestARunOfSeveralFilters: a fingerprint is found wherever one filter ends and the next one
// begins, between equal halves too, and however unevenly they are spread.
func TestARunOfSeveralFilters(t *testing.T) {
	t.Parallel()
	for name, half := range map[string]func(i int, hi uint64) uint64{
		"spread evenly":       func(_ int, hi uint64) uint64 { return hi },
		"in groups of halves": func(i int, _ uint64) uint64 { return uint64(i/100_000) << 40 },
		"all at the end":      func(i int, _ uint64) uint64 { return math.MaxUint64 - uint64(i) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := fps(0, 2*perFilter+3)
			for i := range all {
				all[i].hi = half(i, all[i].hi)
			}
			all = sorted(all)
			b := written(t, extent{5, 9, 7, 6}, all)
			r, err := openRun(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			if len(r.filters) != 3 || r.count != len(all) {
				t.Fatalf("%d filters of %d fingerprints", len(r.filters), r.count)
			}
			for i, f := range all {
				if i%97 != 0 && (i+1000)%perFilter > 2000 {
					continue
				}
				if known, err := r.has(f); !known || err != nil {
					t.Fatalf("%x, the %dth, is not there, %v", f, i, err)
				}
			}
			wrongly := 0
			for _, f := range fps(len(all), len(all)+2000) {
				if r.filters.may(f) {
					wrongly++
				}
			}
			if wrongly > 40 {
				t.Errorf("%d of 2000 others may be there", wrongly)
			}
		})
	}
}

func TestMerged(t *testing.T) {
	t.Parallel()
	all := fps(0, 1000)
	streams := []stream{each(nil), each(sorted(all[:400])), each(sorted(all[200:])), each(sorted(all[100:101]))}
	next := merged(streams)
	var got []Fingerprint
	for f, more, err := next(); more; f, more, err = next() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f)
	}
	if !slices.Equal(got, sorted(all)) {
		t.Errorf("%d fingerprints, or another order; want %d", len(got), len(all))
	}
}

func TestSorted(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 9, 100, 10_000} {
		all := append(fps(0, n), fps(0, n/2)...)
		want := slices.Clone(all)
		slices.SortFunc(want, compare)
		if got := sorted(all); !slices.Equal(got, slices.Compact(want)) {
			t.Errorf("%d are out of order", n)
		}
	}
}

// TestFingerprints: what is part of one and what of the next is told apart, and the key
// counts.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	seen := make(map[Fingerprint]string)
	for _, key := range []Key{KeyOf("a"), KeyOf("b"), KeyOf("a", "b"), KeyOf("ab")} {
		for _, c := range [][3]string{{"a", "b", "c"}, {"ab", "", "c"}, {"", "ab", "c"}, {"a", "bc", ""}, {"a", "", "bc"}} {
			f, _ := key.Of(nil, []byte(c[0]), []byte(c[1]), []byte(c[2]))
			if other, known := seen[f]; known {
				t.Errorf("%q and %s are one", c, other)
			}
			seen[f] = c[0] + "," + c[1] + "," + c[2]
		}
	}
}

// FuzzOpenRun: whatever is in a file, opening and asking it ends, with an error or not.
func FuzzOpenRun(f *testing.F) {
	f.Add(written(f, extent{0, 600, 3, nothing}, fps(0, 600)))
	f.Add(written(f, extent{0, 1, 3, 2}, nil))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := openRun(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for n := range 100 {
			if _, err = r.has(fp(n)); err != nil {
				return
			}
		}
		next := r.all()
		for _, more, err := next(); more && err == nil; {
			_, more, err = next()
		}
		_ = t
	})
}

// FuzzParseLog: what is taken of a log is whole, and is what would be written.
func FuzzParseLog(f *testing.F) {
	log := logHeader(Identity{9}, extent{10, 10, 4, 3})
	log = chunk{10, 12, fps(0, 2)}.append(log)
	log = chunk{12, 20, nil}.append(log)
	f.Add(log)
	f.Add(log[:len(log)-3])
	f.Fuzz(func(t *testing.T, b []byte) {
		of, g, whole, err := parseLog(b)
		if g == nil {
			if err == nil {
				t.Error("neither a generation nor an error")
			}
			return
		}
		if whole > len(b) || whole < headerBytes || g.to < g.from || (err == nil) != (whole == len(b)) {
			t.Fatalf("%d bytes of %d, offsets %d to %d, %v", whole, len(b), g.from, g.to, err)
		}
		if again, same, n, err := parseLog(b[:whole]); err != nil || n != whole || again != of || same.extent != g.extent {
			t.Errorf("read again: %d of %d bytes, %v", n, whole, err)
		}
	})
}
