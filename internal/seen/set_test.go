package seen

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
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
	s, err := o.Set(0, "topic")
	if err != nil {
		tb.Fatal(err)
	}
	return s
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

// grown writes some runs and a log, and closes them.
func grown(tb testing.TB, dir string) (next int64) {
	tb.Helper()
	store := openStore(tb, dir, 24*time.Hour)
	defer store.close()
	set := store.set(tb)
	set.Add(0, 0, nil)
	for bucket := range int64(3) {
		from := int(bucket) * 1000
		set.Add(int64(from+1000), 100+bucket, fps(from, from+1000))
	}
	set.tend()
	set.Close()
	return 3000
}

func filesOf(tb testing.TB, dir string) []string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "0", "*"))
	if err != nil || len(files) < 3 {
		tb.Fatalf("files %v, %v", files, err)
	}
	return files
}

// TestFilesThatAreDamaged: each byte that is wrong, and each file that ends early, is
// noticed when it is opened or asked; what is before it is still known.
func TestFilesThatAreDamaged(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	damages := map[string]func(b []byte) []byte{
		"flipped": func(b []byte) []byte { b[random.IntN(len(b))] ^= 1 << random.IntN(8); return b },
		"cut":     func(b []byte) []byte { return b[:random.IntN(len(b))] },
		"empty":   func([]byte) []byte { return nil },
		"longer":  func(b []byte) []byte { return append(b, 7) },
		"zeroes":  func(b []byte) []byte { from := random.IntN(len(b)); clear(b[from:]); return append(b, 0) },
	}
	for round := range 12 {
		for name, damage := range damages {
			dir := t.TempDir()
			grown(t, dir)
			files := filesOf(t, dir)
			file := files[random.IntN(len(files))]
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err = os.WriteFile(file, damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			store := openStore(t, dir, 24*time.Hour)
			set := store.set(t)
			missed := 0
			for n := range int(max(set.Next(), 0)) {
				known, err := set.has(fp(n), 102)
				if err != nil {
					missed = -1
					break
				}
				if !known {
					missed++
				}
			}
			if missed > 0 {
				t.Fatalf("round %d: %s %s: opened up to %d, of which %d are not known", round, filepath.Base(file), name, set.Next(), missed)
			}
			store.close()
		}
	}
}

// TestADamagedPage makes the set useless as soon as it is asked for, and is told.
func TestADamagedPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	grown(t, dir)
	runs, _ := filepath.Glob(filepath.Join(dir, "0", "*"+runSuffix))
	b, err := os.ReadFile(runs[0])
	if err != nil {
		t.Fatal(err)
	}
	b[100] ^= 1
	if err = os.WriteFile(runs[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	store := openStore(t, dir, 24*time.Hour)
	set := store.set(t)
	batch := set.Begin()
	for n := 0; n < 1000 && err == nil; n++ {
		_, err = batch.bucketed(102).Seen(fp(n), int64(n), time.Unix(0, 0))
	}
	if err == nil || set.Err() == nil || store.failures.Load() == 0 {
		t.Errorf("%v, %v, %d failures", err, set.Err(), store.failures.Load())
	}
	if err = set.Wipe(); err != nil {
		t.Fatal(err)
	}
	if set = store.set(t); set.Next() != -1 || set.Err() != nil {
		t.Errorf("wiped: next %d, %v", set.Next(), set.Err())
	}
}

func (b *Batch) bucketed(n int64) *Batch { b.bucket = n; return b }

// TestEachCutOfALog: whatever a kill leaves of it, what is whole is known and the rest is
// not; and what follows is appended behind it.
func TestEachCutOfALog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := openStore(t, dir, 24*time.Hour)
	set := store.set(t)
	set.Add(0, 5, nil)
	for n := range 10 {
		set.Add(int64(n+1), 5, fps(n, n+1))
	}
	store.close()
	logs, _ := filepath.Glob(filepath.Join(dir, "0", "*"+logSuffix))
	whole, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		if err := os.WriteFile(logs[0], whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		store := openStore(t, dir, 24*time.Hour)
		set := store.set(t)
		next := set.Next()
		for n := range 10 {
			if sees(t, set, n, 5) != (int64(n) < next) {
				t.Fatalf("cut at %d: opened up to %d, call %d", cut, next, n)
			}
		}
		if next < 0 {
			set.Add(0, 5, nil)
		}
		set.Add(max(next, 0)+1, 5, fps(50, 51))
		store.close()
		again := openStore(t, dir, 24*time.Hour)
		if set = again.set(t); !sees(t, set, 50, 5) || set.Next() != max(next, 0)+1 {
			t.Fatalf("cut at %d: what was added behind %d is not known at %d", cut, next, set.Next())
		}
		again.close()
		if err := os.RemoveAll(filepath.Join(dir, "0")); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, "0"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// TestADiskThatIsFull: calls are known all the same, which is told, and written once there
// is room.
func TestADiskThatIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		store := openStore(t, dir, 24*time.Hour)
		defer store.close()
		set := store.set(t)
		set.Add(0, 0, nil)
		// A file in the place of the directory refuses all that a full disk does.
		if err := os.Remove(filepath.Join(dir, "0")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "0"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		set.Add(1000, 1, fps(0, 1000))
		set.Add(2000, 2, fps(1000, 2000))
		synctest.Wait()
		for n := range 2000 {
			if !sees(t, set, n, 2) {
				t.Fatalf("call %d is not known", n)
			}
		}
		if all, unwritten := store.Counts(); all != 2000 || unwritten != 2000 || store.failures.Load() == 0 {
			t.Errorf("%d known, %d of them not written, %d failures", all, unwritten, store.failures.Load())
		}
		if err := os.Remove(filepath.Join(dir, "0")); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, "0"), 0o700); err != nil {
			t.Fatal(err)
		}
		virtual.Sleep(2 * retryAfter)
		set.Add(3000, 3, fps(2000, 3000))
		synctest.Wait()
		if all, unwritten := store.Counts(); all != 3000 || unwritten != 0 {
			t.Errorf("%d known, %d of them not written once there was room", all, unwritten)
		}
	})
}

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

// TestFilesThatAreLost: what comes behind a gap is of no use. Nor is what has no beginning,
// unless that has expired.
func TestFilesThatAreLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		buckets []int64 // of each file, of which the last is a log
		lost    []int   // which of them
		want    int64   // up to where the set is known
	}{
		"none":                    {[]int64{100, 101, 102}, nil, 3000},
		"the first":               {[]int64{100, 101, 102}, []int{0}, -1},
		"the first of one bucket": {[]int64{100, 100, 100}, []int{0}, -1},
		"all but the log":         {[]int64{100, 101, 102}, []int{0, 1}, -1},
		"one before the log":      {[]int64{100, 101, 102}, []int{1}, 1000},
		"one before a run":        {[]int64{100, 101, 102, 103}, []int{1}, 1000},
		"what expires next":       {[]int64{100, 101, 100 + Buckets}, []int{0}, -1},
		"what has expired":        {[]int64{100, 101, 101 + Buckets}, []int{0}, 3000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			store := openStore(t, dir, 24*time.Hour)
			set := store.set(t)
			set.Add(0, 0, nil)
			for i, bucket := range c.buckets {
				from := i * 1000
				if i > 0 {
					set.seal()
				}
				set.Add(int64(from+1000), bucket, fps(from, from+1000))
			}
			store.close()
			for _, i := range c.lost {
				names, err := filepath.Glob(filepath.Join(dir, "0", fmt.Sprintf("%020d*", i*1000)))
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range names { // none where it has expired
					if err = os.Remove(name); err != nil {
						t.Fatal(err)
					}
				}
			}
			store = openStore(t, dir, 24*time.Hour)
			if set = store.set(t); set.Next() != c.want {
				t.Errorf("opened up to %d, want %d", set.Next(), c.want)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "0", "*")); c.want < 0 && len(left) > 0 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}

// TestDamageThatAMergeFinds makes the set useless at once, whatever is asked, and is told
// once: what is beside the loop does not try it again with each transaction.
func TestDamageThatAMergeFinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := openStore(t, dir, 24*time.Hour)
	set := store.set(t)
	set.Add(0, 0, nil)
	for n := range 2 {
		set.Add(int64(1000*(n+1)), 100, fps(1000*n, 1000*(n+1)))
		set.seal()
	}
	set.mu.Lock()
	damaged := set.runs[0].file.name
	set.mu.Unlock()
	store.close()
	b, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	b[100] ^= 1
	if err = os.WriteFile(damaged, b, 0o600); err != nil {
		t.Fatal(err)
	}
	store = openStore(t, dir, 24*time.Hour)
	set = store.set(t)
	batch := set.Begin()
	for n := range 3 {
		set.Add(int64(2001+n), 101, fps(2000+n, 2001+n)) // so that those of bucket 100 are merged
		set.tend()
		if _, err = batch.bucketed(101).Seen(fp(5000+n), 2003, time.Unix(0, 0)); err == nil {
			t.Error("a set with a damaged file is asked")
		}
	}
	if n := store.failures.Load(); n != 1 {
		t.Errorf("%d failures, want one", n)
	}
}

// TestASetOfAnother is not taken for one's own.
func TestASetOfAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	next := grown(t, dir)
	for name, c := range map[string]struct {
		window time.Duration
		topic  string
		want   int64
	}{
		"the same":          {24 * time.Hour, "topic", next},
		"another horizon":   {48 * time.Hour, "topic", -1},
		"a topic made anew": {24 * time.Hour, "another", -1},
	} {
		copied := t.TempDir()
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		store := openStore(t, copied, c.window)
		set, err := store.Set(0, c.topic)
		if err != nil || set.Next() != c.want {
			t.Errorf("%s: opened up to %d, %v; want %d", name, set.Next(), err, c.want)
		}
		store.close()
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
