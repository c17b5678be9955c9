package store

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
)

// rounds multiplies what the random tests do.
var rounds = flag.Int("rounds", 1, "how many times the usual number of random runs and crashes")

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// stores returns an empty store of each kind.
func stores(t *testing.T) map[string]Store {
	t.Helper()
	all := map[string]Store{"memory": NewMemory(), "disk": opened(t, vfs.NewMem())}
	t.Cleanup(func() {
		for _, s := range all {
			_ = s.Close()
		}
	})
	return all
}

// opened opens a store in a file system of memory.
func opened(t *testing.T, files vfs.FS) Store {
	t.Helper()
	s, err := Open(Options{Dir: "store", Memory: MinMemory, Log: slog.New(slog.DiscardHandler), fs: files})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// apply writes to partition 1, and others that write has given a checkpoint.
func apply(t *testing.T, s Store, write func(b *Batch)) {
	t.Helper()
	var b Batch
	b.SetCheckpoint(1, []byte("one"))
	write(&b)
	if err := s.Apply(&b); err != nil {
		t.Fatal(err)
	}
}

// users returns what a scan visits, as user=record.
func users(t *testing.T, s Store, partition int32, from string, limit int) []string {
	t.Helper()
	var got []string
	if limit == 0 {
		return nil
	}
	err := s.Scan(partition, []byte(from), func(user, record []byte) bool {
		got = append(got, fmt.Sprintf("%s=%s", user, record))
		return len(got) < limit
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// due returns what is due in a partition, as minutes after noon and user.
func due(t *testing.T, s Store, partition int32, after Timer, until time.Time, limit int) []string {
	t.Helper()
	all, err := s.Due(partition, after, until, limit)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, timer := range all {
		got = append(got, fmt.Sprintf("%s %s", timer.Due.Sub(noon), timer.User))
	}
	return got
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestARecordIsWhatWasWrittenLast(t *testing.T) {
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			apply(t, s, func(b *Batch) {
				b.Put(1, []byte("ann"), []byte("old"))
				b.Put(1, []byte("ann"), []byte("new"))
				b.Put(1, []byte("bob"), []byte{})
				b.Put(1, []byte("eve"), []byte("x"))
				b.Delete(1, []byte("eve"))
				b.Put(2, []byte("ann"), []byte("another"))
				b.SetCheckpoint(2, nil)
			})
			for _, c := range []struct {
				partition int32
				user      string
				want      []byte
			}{{1, "ann", []byte("new")}, {1, "bob", []byte{}}, {1, "eve", nil}, {2, "ann", []byte("another")}, {2, "bob", nil}, {3, "ann", nil}, {1, "an", nil}} {
				got, ok, err := s.Get(c.partition, []byte(c.user))
				if err != nil || ok != (c.want != nil) || !bytes.Equal(got, c.want) {
					t.Errorf("partition %d, %s: %q, %v, %v; want %q", c.partition, c.user, got, ok, err, c.want)
				}
			}
		})
	}
}

func TestARecordStaysAsItWasRead(t *testing.T) {
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			user, record := []byte("ann"), []byte("record")
			apply(t, s, func(b *Batch) { b.Put(1, user, record) })
			record[0], user[0] = 'X', 'X'
			first, _, _ := s.Get(1, []byte("ann"))
			apply(t, s, func(b *Batch) { b.Put(1, []byte("ann"), []byte("RECORD")) })
			second, _, _ := s.Get(1, []byte("ann"))
			if string(first) != "record" || string(second) != "RECORD" {
				t.Errorf("the record was %q, and %q when it was written again", first, second)
			}
		})
	}
}

func TestABatchNeedsTheCheckpointsOfWhatItTouches(t *testing.T) {
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			var b Batch
			b.SetCheckpoint(1, []byte("one"))
			b.SetTimer(2, []byte("ann"), noon)
			if err := s.Apply(&b); err == nil || !strings.Contains(err.Error(), "partition 2") {
				t.Errorf("the error is %v", err)
			}
			if _, ok, _ := s.Checkpoint(1); ok {
				t.Error("a refused batch was written in part")
			}
			b.Reset()
			if err := s.Apply(&b); err != nil || b.Len() != 0 || b.Size() != 0 {
				t.Errorf("a batch that was reset: %v, %d writes of %d bytes", err, b.Len(), b.Size())
			}
		})
	}
}

func TestCheckpoints(t *testing.T) {
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			apply(t, s, func(b *Batch) { b.SetCheckpoint(300, []byte{}) })
			for partition, want := range map[int32]string{1: "one", 300: ""} {
				if got, ok, err := s.Checkpoint(partition); err != nil || !ok || string(got) != want {
					t.Errorf("partition %d: %q, %v, %v", partition, got, ok, err)
				}
			}
			if _, ok, err := s.Checkpoint(2); ok || err != nil {
				t.Errorf("a partition never written has a checkpoint, or %v", err)
			}
			all, err := s.Partitions()
			if err != nil {
				t.Fatal(err)
			}
			same(t, all, []int32{1, 300})
		})
	}
}

func TestScansResume(t *testing.T) {
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			apply(t, s, func(b *Batch) {
				for _, user := range []string{"b", "a", "a\x00", "\xff\xff", "ab", ""} {
					b.Put(1, []byte(user), []byte("1"))
				}
				b.Put(0, []byte("before"), nil)
				b.Put(2, []byte(""), []byte("behind"))
				b.SetCheckpoint(0, nil)
				b.SetCheckpoint(2, nil)
			})
			same(t, users(t, s, 1, "", 9), []string{"=1", "a=1", "a\x00=1", "ab=1", "b=1", "\xff\xff=1"})
			same(t, users(t, s, 1, "a\x00", 2), []string{"a\x00=1", "ab=1"})
			same(t, users(t, s, 1, "ab\x00", 9), []string{"b=1", "\xff\xff=1"})
		})
	}
}

func TestAScanSeesNothingNewAndMayUseTheStore(t *testing.T) {
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			apply(t, s, func(b *Batch) { b.Put(1, []byte("a"), nil); b.Put(1, []byte("c"), nil) })
			var got []string
			err := s.Scan(1, nil, func(user, _ []byte) bool {
				got = append(got, string(user))
				apply(t, s, func(b *Batch) { b.Put(1, []byte("b"), nil); b.Delete(1, []byte("c")) })
				_, ok, err := s.Get(1, []byte("b"))
				return ok && err == nil
			})
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, []string{"a", "c"})
			same(t, users(t, s, 1, "", 9), []string{"a=", "b="})
		})
	}
}

func TestTimersAreASet(t *testing.T) {
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			ann, bob := []byte("ann"), []byte("bob")
			apply(t, s, func(b *Batch) {
				b.SetTimer(1, bob, noon)
				b.SetTimer(1, ann, noon)
				b.SetTimer(1, ann, noon.Add(time.Nanosecond))
				b.SetTimer(1, ann, noon.Add(-time.Hour))
				b.SetTimer(1, bob, noon.Add(time.Hour))
				b.DeleteTimer(1, bob, noon.Add(time.Hour))
			})
			for range 3 { // twice is once, and what is not there can be deleted
				apply(t, s, func(b *Batch) { b.SetTimer(1, ann, noon); b.DeleteTimer(1, ann, noon.Add(time.Minute)) })
			}
			zero := Timer{}
			same(t, due(t, s, 1, zero, noon.Add(-2*time.Hour), 9), []string(nil))
			same(t, due(t, s, 1, zero, noon, 9), []string{"-1h0m0s ann", "0s ann", "0s bob"})
			same(t, due(t, s, 1, zero, noon.Add(time.Hour), 9), []string{"-1h0m0s ann", "0s ann", "0s bob", "1ns ann"})
			same(t, due(t, s, 1, zero, noon, 0), []string(nil))
			same(t, due(t, s, 1, Timer{noon, ann}, noon.Add(time.Hour), 1), []string{"0s bob"})
			same(t, due(t, s, 2, zero, noon, 9), []string(nil))

			apply(t, s, func(b *Batch) { b.DeleteTimer(1, ann, noon); b.DeleteTimer(1, ann, noon.Add(-time.Hour)) })
			same(t, due(t, s, 1, zero, noon, 9), []string{"0s bob"})
			apply(t, s, func(b *Batch) { b.SetTimer(1, ann, noon.Add(-3*time.Hour)) }) // before where reading would begin
			same(t, due(t, s, 1, zero, noon, 9), []string{"-3h0m0s ann", "0s bob"})
		})
	}
}

func TestInstantsOfAnyYear(t *testing.T) {
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			years := []int{-5000, 1, 1677, 1969, 1970, 2026, 2263, 99999}
			var want []time.Time
			apply(t, s, func(b *Batch) {
				for _, year := range years {
					at := time.Date(year, 3, 4, 5, 6, 7, 8, time.UTC)
					want = append(want, at)
					b.SetTimer(1, []byte("ann"), at.In(time.FixedZone("", 3600)))
				}
			})
			all, err := s.Due(1, Timer{}, want[len(want)-1], 99)
			if err != nil {
				t.Fatal(err)
			}
			var got []time.Time
			for _, timer := range all {
				got = append(got, timer.Due)
			}
			same(t, got, want)
		})
	}
}

func TestWipeTakesAllOfAPartition(t *testing.T) {
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			write := func(b *Batch) {
				for _, partition := range []int32{0, 1, 2} {
					b.Put(partition, []byte("\xff"), []byte("1"))
					b.SetTimer(partition, []byte("\xff"), noon)
					b.SetCheckpoint(partition, []byte("c"))
				}
			}
			for range 2 { // a partition that was wiped is one like others
				apply(t, s, write)
				same(t, due(t, s, 1, Timer{}, noon, 9), []string{"0s \xff"})
				if err := s.Wipe(1); err != nil {
					t.Fatal(err)
				}
				all, _ := s.Partitions()
				same(t, all, []int32{0, 2})
				same(t, users(t, s, 1, "", 9), []string(nil))
				same(t, due(t, s, 1, Timer{}, noon, 9), []string(nil))
				same(t, users(t, s, 0, "", 9), []string{"\xff=1"})
				same(t, due(t, s, 2, Timer{}, noon, 9), []string{"0s \xff"})
			}
		})
	}
}

func TestAClosedStoreSaysSo(t *testing.T) {
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			var b Batch
			calls := map[string]func() error{
				"get":        func() error { _, _, err := s.Get(1, nil); return err },
				"apply":      func() error { return s.Apply(&b) },
				"due":        func() error { _, err := s.Due(1, Timer{}, noon, 1); return err },
				"scan":       func() error { return s.Scan(1, nil, nil) },
				"checkpoint": func() error { _, _, err := s.Checkpoint(1); return err },
				"partitions": func() error { _, err := s.Partitions(); return err },
				"wipe":       func() error { return s.Wipe(1) },
				"close":      s.Close,
			}
			for name, call := range calls {
				if err := call(); !errors.Is(err, ErrClosed) {
					t.Errorf("%s: %v", name, err)
				}
			}
			same(t, s.Stats(), Stats{})
		})
	}
}

// model is what a store is, in maps.
type model map[int32]*modelPartition

type modelPartition struct {
	records    map[string]string
	timers     map[string]Timer // by what appendTimer makes of them
	checkpoint string
}

func (m model) partition(p int32) *modelPartition {
	if m[p] == nil {
		m[p] = &modelPartition{records: map[string]string{}, timers: map[string]Timer{}}
	}
	return m[p]
}

func (m model) clone() model {
	c := make(model)
	for p, from := range m {
		c[p] = &modelPartition{maps.Clone(from.records), maps.Clone(from.timers), from.checkpoint}
	}
	return c
}

// write draws a batch and does to the model what it says.
func (m model) write(r *rand.Rand, b *Batch, size int) {
	touched := []int32{r.Int32N(3), r.Int32N(3)}
	for _, p := range touched {
		checkpoint := strconv.FormatUint(r.Uint64(), 10)
		b.SetCheckpoint(p, []byte(checkpoint))
		m.partition(p).checkpoint = checkpoint
	}
	for range r.IntN(size) {
		p := touched[r.IntN(2)]
		user := fmt.Sprint("u", r.IntN(200))
		at := noon.Add(time.Duration(r.IntN(30)) * 4 * time.Second)
		ringer := fmt.Sprint("u", r.IntN(20)) // few, so that a timer that is deleted is mostly there
		key := string(appendTimer(nil, Timer{at, []byte(ringer)}))
		switch r.IntN(7) {
		case 0:
			b.Delete(p, []byte(user))
			delete(m[p].records, user)
		case 1, 2:
			b.SetTimer(p, []byte(ringer), at)
			m[p].timers[key] = Timer{at, []byte(ringer)}
		case 3, 4:
			b.DeleteTimer(p, []byte(ringer), at)
			delete(m[p].timers, key)
		default:
			record := strings.Repeat(strconv.Itoa(r.IntN(10)), r.IntN(900))
			b.Put(p, []byte(user), []byte(record))
			m[p].records[user] = record
		}
	}
}

// dump is all of a store's partition, as text.
func dump(t *testing.T, s Store, p int32) []string {
	t.Helper()
	checkpoint, ok, err := s.Checkpoint(p)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{fmt.Sprintf("checkpoint %q %v", checkpoint, ok)}
	out = append(out, users(t, s, p, "", 1<<30)...)
	return append(out, due(t, s, p, Timer{}, noon.AddDate(1, 0, 0), 1<<30)...)
}

func (m model) dump(p int32) []string {
	part := m[p]
	if part == nil {
		return []string{`checkpoint "" false`}
	}
	out := []string{fmt.Sprintf("checkpoint %q true", part.checkpoint)}
	for _, user := range slices.Sorted(maps.Keys(part.records)) {
		out = append(out, user+"="+part.records[user])
	}
	return append(out, part.due(Timer{}, noon.AddDate(1, 0, 0), 1<<30)...)
}

func (m *modelPartition) due(after Timer, until time.Time, limit int) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(m.timers)) {
		timer := m.timers[key]
		if (after.zero() || key > string(appendTimer(nil, after))) && !timer.Due.After(until) && len(out) < limit {
			out = append(out, fmt.Sprintf("%s %s", timer.Due.Sub(noon), timer.User))
		}
	}
	return out
}

// TestAStoreIsItsModel does the same at random to a store and to maps, and looks at both in all ways.
func TestAStoreIsItsModel(t *testing.T) {
	for _, kind := range []string{"memory", "disk"} {
		for seed := range uint64(4 * *rounds) {
			t.Run(fmt.Sprint(kind, seed), func(t *testing.T) {
				files := vfs.NewMem()
				var s Store
				if kind == "disk" {
					s = opened(t, files)
				} else {
					s = NewMemory()
				}
				r := rand.New(rand.NewPCG(seed, 7))
				m := make(model)
				for step := range 300 {
					s = stepped(t, r, s, m, files)
					if step%20 == 0 {
						compareAll(t, s, m)
					}
				}
				compareAll(t, s, m)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// stepped does one thing to a store and its model, and returns the store, which may have been opened anew.
func stepped(t *testing.T, r *rand.Rand, s Store, m model, files vfs.FS) Store {
	t.Helper()
	p := r.Int32N(3)
	part := m[p]
	d, onDisk := s.(*disk)
	switch r.IntN(12) {
	case 0:
		if r.IntN(4) == 0 {
			delete(m, p)
			if err := s.Wipe(p); err != nil {
				t.Fatal(err)
			}
		}
	case 1:
		if onDisk {
			if err := errors.Join(d.db.Flush(), d.db.Compact(t.Context(), []byte{0}, []byte{255}, false)); err != nil {
				t.Fatal(err)
			}
		}
	case 2:
		if onDisk {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return opened(t, files)
		}
	case 3, 4, 5, 6:
		if part == nil {
			break
		}
		until := noon.Add(time.Duration(r.IntN(130)) * time.Second)
		limit := r.IntN(9)
		var after Timer
		if r.IntN(2) == 0 {
			after = Timer{noon.Add(time.Duration(r.IntN(130)) * time.Second), fmt.Append(nil, "u", r.IntN(200))}
		}
		same(t, due(t, s, p, after, until, limit), part.due(after, until, limit))
		from := fmt.Sprint("u", r.IntN(200))
		all := users(t, s, p, "", 1<<30)
		all = slices.DeleteFunc(all, func(line string) bool {
			user, _, _ := strings.Cut(line, "=")
			return user < from
		})
		same(t, users(t, s, p, from, 1<<30), slices.Clip(append([]string(nil), all...)))
	default:
		var b Batch
		m.write(r, &b, 60)
		if err := s.Apply(&b); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func compareAll(t *testing.T, s Store, m model) {
	t.Helper()
	for p := range int32(3) {
		same(t, dump(t, s, p), m.dump(p))
		if t.Failed() {
			t.FailNow()
		}
	}
}
