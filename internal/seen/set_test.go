package seen

import (
	"encoding/binary"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

// opened is a store, and what failed in it.
type opened struct {
	*Store

	failures atomic.Int64
}

func openStore(tb testing.TB, dir string, window time.Duration) *opened {
	tb.Helper()
	o := new(opened)
	s, err := Open(Options{
		Dir: dir, Window: window, Logger: slog.New(slog.NewTextHandler(tb.Output(), nil)),
		Failed: func(string) { o.failures.Add(1) },
	})
	if err != nil {
		tb.Fatal(err)
	}
	o.Store = s
	tb.Cleanup(func() { o.close() })
	return o
}

// close closes the store, once.
func (o *opened) close() {
	if o.Store != nil {
		o.Close()
		o.Store = nil
	}
}

func (o *opened) set(tb testing.TB) *Set {
	tb.Helper()
	return o.Set(0, "topic")
}

func fp(n int) Fingerprint {
	f, _ := KeyOf("test").Of(nil, []byte("web"), binary.BigEndian.AppendUint64(nil, uint64(n)), nil)
	return f
}

// fps are those of the numbers from one up to another, excluded.
func fps(from, to int) []Fingerprint {
	all := make([]Fingerprint, 0, to-from)
	for n := from; n < to; n++ {
		all = append(all, fp(n))
	}
	return all
}

// sees reports whether a call is known, and leaves the set as it is.
func sees(tb testing.TB, s *Set, n int, bucket int64) bool {
	tb.Helper()
	known, err := s.has(fp(n), bucket)
	if err != nil {
		tb.Fatal(err)
	}
	return known
}

// model is a set beside a map of what it has to know.
type model struct {
	dir    string
	random *rand.Rand
	store  *opened
	set    *Set
	next   int64
	at     time.Time
	last   map[int]int64 // the bucket in which each call was seen last
}

func (m *model) open(t *testing.T) {
	t.Helper()
	m.store = openStore(t, m.dir, 24*time.Hour)
	if m.set = m.store.set(t); m.set.Next() < 0 && m.next == 0 {
		m.set.Add(0, 0, nil)
	}
	if m.set.Next() != m.next {
		t.Fatalf("opened at %d, closed at %d", m.set.Next(), m.next)
	}
}

// transact sees calls in a batch, and commits it unless it is aborted.
func (m *model) transact(t *testing.T) {
	t.Helper()
	batch, n, changed := m.set.Begin(), m.random.IntN(3000), make(map[int]int64)
	bucket := max(m.store.Bucket(m.at), m.set.Bucket())
	for range n {
		call := m.random.IntN(200_000)
		got, err := batch.Seen(fp(call), m.next, m.at)
		if err != nil {
			t.Fatal(err)
		}
		_, again := changed[call]
		seen, known := m.last[call]
		if want := again || known && seen >= bucket-Buckets; got != want {
			t.Fatalf("call %d at bucket %d: %t; seen in bucket %d (%t), in the batch: %t", call, bucket, got, seen, known, again)
		}
		changed[call] = bucket
	}
	if m.random.IntN(4) == 0 {
		batch.Drop()
		return
	}
	m.next += int64(n)
	batch.Commit(m.next)
	maps.Copy(m.last, changed)
}

// TestAgainstAMap: whatever is committed, dropped, merged, closed and opened again, the
// set knows what a map of the last buckets knows.
func TestAgainstAMap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			m := &model{dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, 1)), at: time.Unix(1_700_000_000, 0), last: make(map[int]int64)}
			if seed == 0 {
				m.dir = "" // what has no names is gone when it is closed
			}
			m.open(t)
			for range 60 {
				switch what := m.random.IntN(20); {
				case what == 0 && m.dir != "":
					m.set.Close()
					m.store.close()
					m.open(t)
				case what == 1:
					m.at = m.at.Add(time.Duration(m.random.IntN(5)) * time.Hour)
				}
				m.transact(t)
			}
			if m.store.failures.Load() > 0 {
				t.Errorf("%d failures", m.store.failures.Load())
			}
		})
	}
}

// TestExpiry: a call is known for the horizon, and for a bucket more at most; what is
// beyond is not kept.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		store := openStore(t, dir, 24*time.Hour)
		defer store.close()
		set := store.set(t)
		set.Add(0, 0, nil)
		batch := set.Begin()
		next := int64(0)
		see := func(n int) bool {
			known, err := batch.Seen(fp(n), next, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			next++
			batch.Commit(next)
			return known
		}
		see(1)
		for hour := range 24 {
			virtual.Sleep(time.Hour)
			see(100 + hour)
		}
		if !see(1) {
			t.Error("a call was forgotten within the horizon")
		}
		for hour := range 24 {
			virtual.Sleep(time.Hour)
			see(200 + hour)
		}
		if !see(1) {
			t.Error("a copy did not renew the horizon")
		}
		virtual.Sleep(24*time.Hour + store.Width())
		see(2)
		synctest.Wait()
		if see(1) {
			t.Error("a call is known beyond the horizon and a bucket")
		}
		if all, _ := store.Counts(); all != 2 { // 1 and 2
			t.Errorf("%d calls are remembered", all)
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "0", "*")); len(files) > 3 {
			t.Errorf("files are left: %v", files)
		}
	})
}

// TestARecordOfTheFuture ends nobody's horizon, nor does one without a time.
func TestARecordOfTheFuture(t *testing.T) {
	t.Parallel()
	store := openStore(t, "", 24*time.Hour)
	set := store.set(t)
	set.Add(0, 0, nil)
	batch := set.Begin()
	for n, at := range []time.Time{time.Now(), time.Now().Add(1000 * time.Hour), {}, time.UnixMilli(-1), time.Now()} {
		if _, err := batch.Seen(fp(n), int64(n), at); err != nil {
			t.Fatal(err)
		}
	}
	batch.Commit(5)
	if now := store.Bucket(time.Now()); set.Bucket() > now || !sees(t, set, 0, set.Bucket()) {
		t.Errorf("bucket %d, and now is %d", set.Bucket(), now)
	}
}

func (b *Batch) bucketed(n int64) *Batch { b.bucket = n; return b }

// TestLoad: what is restored is as what was added, in whatever portions it comes.
func TestLoad(t *testing.T) {
	t.Parallel()
	const n = 100_000
	dir := t.TempDir()
	store := openStore(t, dir, 24*time.Hour)
	set := store.set(t)
	portions := 0
	for from := 0; from < n; portions++ {
		to := min(from+1+from/2, n)
		overlap := max(from-10, 0)
		if err := set.Load(int64(overlap), int64(to), int64(portions/4), fps(overlap, to)); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	if err := set.Load(n+1, n+2, 9, nil); err == nil {
		t.Error("a gap was taken")
	}
	if err := set.Loaded(); err != nil {
		t.Fatal(err)
	}
	bucket := set.Bucket()
	set.Close()
	store.close()
	again := openStore(t, dir, 24*time.Hour)
	set = again.set(t)
	if set.Next() != n || set.Bucket() != bucket {
		t.Errorf("opened up to %d in bucket %d, want %d in %d", set.Next(), set.Bucket(), n, bucket)
	}
	for i := range n {
		if !sees(t, set, i, bucket) {
			t.Fatalf("call %d is not known", i)
		}
	}
	wrong := 0
	for i := range n {
		if sees(t, set, n+i, bucket) {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d calls are known that never were", wrong)
	}
}

// TestADirectoryIsOneProcess: two would write each other's files.
func TestADirectoryIsOneProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	openStore(t, dir, time.Hour)
	if _, err := Open(Options{Dir: dir, Window: time.Hour}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second one: %v", err)
	}
}

// someRuns are runs of a few buckets, and how many fingerprints they have.
func someRuns(random *rand.Rand, now int64) []*run {
	var runs []*run
	for bucket := range now + 1 {
		for range random.IntN(30) {
			r := &run{extent: extent{bucket: bucket}, count: random.IntN(2 * perFilter), file: new(file)}
			if random.IntN(3) > 0 {
				r.count = random.IntN(2 * generationSize)
			}
			runs = append(runs, r)
		}
	}
	return runs
}

// TestMergeable: runs of a bucket that grows are merged by their size, and those of one
// that is over into one.
func TestMergeable(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		now, merges := int64(random.IntN(4)), 0
		runs := someRuns(random, now)
		for from, to := mergeable(runs, now); to > 0; from, to = mergeable(runs, now) {
			sum := 0
			for _, r := range runs[from:to] {
				if sum += r.count; r.bucket != runs[from].bucket {
					t.Fatalf("fingerprints of buckets %d and %d in one", runs[from].bucket, r.bucket)
				}
			}
			if merges++; to-from < 2 || merges > 1000 {
				t.Fatalf("merge %d is of %d runs", merges, to-from)
			}
			runs = slices.Replace(runs, from, to, &run{extent: runs[from].extent, count: sum, file: new(file)})
		}
		for i := 1; i < len(runs); i++ {
			if a, b := runs[i-1], runs[i]; a.bucket == b.bucket && a.bucket < now {
				t.Fatalf("two runs of bucket %d are left", a.bucket)
			}
		}
	}
}
