package digest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/seen"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// sector is what a disk writes whole or not at all.
const sector = 512

// TestAPowerCut: what was not synced is on the disk whole, in part, as zeroes or not at all,
// files that were removed are back, and every other disk has lied about what it had synced.
// Whatever that leaves, and whatever digests there are, the set knows the calls that were
// processed and no others, at the latest when it has been made anew for a damaged page.
func TestAPowerCut(t *testing.T) {
	ran, damaged := 0, 0
	for seed := range uint64(32) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &powerCut{bench: newBench(t, testkit.Virtual(t)), Rand: rand.New(rand.NewPCG(seed, 3)), lies: seed%2 == 1}
				ran++ // not on real brokers, which have a time of their own
				p.spread(t, 3000, 6)
				p.process(t)
				if !p.comesBack(t) {
					damaged++
				}
			})
		})
	}
	if ran > 0 && damaged == 0 {
		t.Error("no page was damaged that is found only when it is asked for")
	}
}

// powerCut is a process, and what is on its disk.
type powerCut struct {
	*bench
	*rand.Rand

	lies    bool
	began   time.Time
	each    time.Duration // from a call to the next
	removed string        // has the files as they were at some time before
	left    string        // has them as they are behind the cut
	next    int64         // what was processed
}

// spread writes calls over some buckets.
func (p *powerCut) spread(t *testing.T, n, buckets int) {
	t.Helper()
	p.each = p.store.Width() * time.Duration(buckets) / time.Duration(n)
	p.began = time.Now().Add(-p.store.Width() * time.Duration(buckets))
	for i := range n {
		rec := call(i)
		rec.Timestamp = p.at(int64(i))
		p.client.Produce(t.Context(), rec, nil)
	}
	if err := p.client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.bench.next = int64(n)
}

func (p *powerCut) at(offset int64) time.Time { return p.began.Add(p.each * time.Duration(offset)) }

// process has a set see most of the calls, with the digests of some, until the power is cut.
func (p *powerCut) process(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	p.removed, p.left = t.TempDir(), t.TempDir()
	store := openStore(t, dir)
	defer store.Close()
	set := store.Set(0, schemas.TopicRawEvents, topicID)
	set.Add(0, 0, nil)
	last := p.bench.next/2 + p.Int64N(p.bench.next/2)
	noted := last / 2
	for batch := set.Begin(); p.next < last; batch.Commit(p.next) {
		d := digest{of: set.Identity(), from: p.next}
		for range 1 + p.IntN(200) {
			fp, _ := p.calls.Fingerprint(call(int(p.next)))
			if _, err := batch.Seen(fp, p.next, p.at(p.next)); err != nil {
				t.Fatal(err)
			}
			d.fps = append(d.fps, fp)
			p.next++
		}
		if d.to, d.bucket = p.next, batch.Bucket(); p.IntN(2) == 0 {
			p.client.Produce(t.Context(), &kgo.Record{Topic: schemas.TopicSeen, Value: d.value()}, nil)
		}
		if p.IntN(4) > 0 {
			synctest.Wait() // what is written beside the loop is, or a part of it
		}
		if noted > 0 && p.next > noted {
			p.copyFiles(t, dir, p.removed)
			noted = 0
		}
	}
	p.copyFiles(t, dir, p.left)
	p.cut(t)
}

func (p *powerCut) copyFiles(t *testing.T, from, to string) {
	t.Helper()
	synctest.Wait()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// cut leaves of the files what the cut does.
func (p *powerCut) cut(t *testing.T) {
	t.Helper()
	for _, name := range files(t, p.removed) {
		back := filepath.Join(p.left, "0", filepath.Base(name))
		if _, err := os.Stat(back); err == nil || p.IntN(3) > 0 {
			continue
		}
		if err := os.Rename(name, back); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range files(t, p.left) {
		synced := strings.HasSuffix(name, ".run") && !p.lies
		switch {
		case synced:
		case p.IntN(8) == 0:
			if err := os.Remove(name); err != nil { // the directory was not synced
				t.Fatal(err)
			}
		case p.IntN(2) == 0:
			p.mangle(t, name)
		}
	}
}

// files are those of the partition.
func files(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "0", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// mangle takes sectors from a file, and perhaps its end.
func (p *powerCut) mangle(t *testing.T, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	sectors := len(b)/sector + 1
	from, to := p.IntN(sectors), sectors
	if p.IntN(2) == 0 {
		to = from + 1 // those behind it were written earlier
	}
	for n := from; n < to; n++ {
		if n == from || p.IntN(2) == 0 {
			clear(b[n*sector : min((n+1)*sector, len(b))])
		}
	}
	if p.IntN(4) == 0 {
		b = b[:p.IntN(sectors)*sector]
	}
	if err = os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// comesBack restores the set from what is left, and from what that left. It reports whether
// files that were opened could be read.
func (p *powerCut) comesBack(t *testing.T) (read bool) {
	t.Helper()
	store := openStore(t, p.left)
	defer store.Close()
	set, _, err := p.restore(t.Context(), t, store, At{Next: p.next})
	read = err == nil && p.readable(t, set)
	if err == nil && !read {
		if err = set.Wipe(); err != nil {
			t.Fatal(err)
		}
	}
	if read {
		set.Close()
	}
	for range 2 {
		if set, _, err = p.restore(t.Context(), t, store, At{Next: p.next}); err != nil {
			t.Fatal(err)
		}
		p.knows(t, set, p.next)
		set.Close()
	}
	return read
}

// readable asks a set for all calls. What it says counts until it says that it is of no use.
func (p *powerCut) readable(t *testing.T, set *seen.Set) bool {
	t.Helper()
	batch := set.Begin()
	for n := range p.bench.next {
		fp, _ := p.calls.Fingerprint(call(int(n)))
		known, err := batch.Seen(fp, n, time.Now())
		if err != nil {
			return false
		}
		if known != (n < p.next) {
			t.Fatalf("call %d of %d: known %t", n, p.next, known)
		}
	}
	return true
}
