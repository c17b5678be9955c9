package seen

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

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

// TestADiskThatIsFull, from the beginning or later: calls are known all the same, which is
// told, and written once there is room. A file in the place of the directory refuses all that
// a full disk does.
func TestADiskThatIsFull(t *testing.T) {
	for name, atFirst := range map[string]bool{"from the beginning": true, "later": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				store := openStore(t, dir, 24*time.Hour)
				defer store.close()
				full := filepath.Join(dir, "0")
				fill := func() {
					if err := errors.Join(os.RemoveAll(full), os.WriteFile(full, nil, 0o600)); err != nil {
						t.Fatal(err)
					}
				}
				if atFirst {
					fill()
				}
				set := store.set(t)
				if told := store.failures.Load() > 0; told != atFirst {
					t.Errorf("a failure was told: %t", told)
				}
				fill()
				set.Add(0, 0, nil)
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
				if err := os.Remove(full); err != nil {
					t.Fatal(err)
				}
				virtual.Sleep(2 * retryAfter)
				set.Add(3000, 3, fps(2000, 3000))
				synctest.Wait()
				if all, unwritten := store.Counts(); all != 3000 || unwritten != 0 {
					t.Errorf("%d known, %d of them not written once there was room", all, unwritten)
				}
			})
		})
	}
}

// TestFilesThatStay: of a set whose files can't be removed nothing is taken up, then or when
// the disk is well again.
func TestFilesThatStay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "calls")
	away := dir + "-away"
	store := openStore(t, dir, 24*time.Hour)
	set := store.set(t)
	set.Add(0, 0, nil)
	set.Add(1000, 1, fps(0, 1000))
	set.tend()
	if err := errors.Join(os.Rename(dir, away), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	failures := store.failures.Load()
	anew := set.Anew()
	if anew.Next() >= 0 || store.failures.Load() == failures {
		t.Errorf("knows calls below %d, %d failures", anew.Next(), store.failures.Load()-failures)
	}
	anew.Add(500, 0, nil)
	anew.Add(1500, 1, fps(1000, 2000))
	anew.tend()
	if all, unwritten := store.Counts(); all != 1000 || unwritten != 1000 || !sees(t, anew, 1500, 1) {
		t.Errorf("%d known, %d of them not written", all, unwritten)
	}
	if err := errors.Join(os.Remove(dir), os.Rename(away, dir)); err != nil {
		t.Fatal(err)
	}
	if again := store.set(t); again.Next() >= 0 {
		t.Errorf("knows calls below %d, of files that were to be removed", again.Next())
	}
	if again := store.set(t); again.Next() >= 0 || store.spoiled[again.dir] {
		t.Error("files are still there")
	}
}

// TestWhatExpiresUnwritten: a run that could not be written leaves no log behind when it
// expires.
func TestWhatExpiresUnwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := openStore(t, dir, 24*time.Hour)
	set := store.set(t)
	set.Add(0, 0, nil)
	run := extent{from: 0, to: 1000}.name(runSuffix)
	if err := os.MkdirAll(filepath.Join(dir, "0", run, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	set.Add(1000, 1, fps(0, 1000))
	logs := func() []string {
		set.tend()
		names, err := filepath.Glob(filepath.Join(dir, "0", "*"+logSuffix))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	first := logs()
	set.Add(2000, 2, fps(1000, 2000))
	if names := logs(); len(first) != 1 || !slices.Contains(names, first[0]) {
		t.Fatalf("%v, then %v: want the log of what is not in a run", first, names)
	}
	set.Add(3000, 2+Buckets, fps(2000, 3000))
	if names := logs(); slices.Contains(names, first[0]) {
		t.Errorf("the log is left: %v", names)
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
		if set := store.Set(0, c.topic); set.Next() != c.want {
			t.Errorf("%s: opened up to %d, want %d", name, set.Next(), c.want)
		}
		store.close()
	}
}
