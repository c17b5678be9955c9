package spill

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
)

// TestAPileKeepsItsOrder: what is put aside comes back, as often as it is asked for, and
// leaves no file.
func TestAPileKeepsItsOrder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	random := rand.New(rand.NewPCG(1, 2))
	p := New(nil)
	defer p.Close()
	want := make(map[int][][]byte)
	for n := range 2_000 {
		key, entry := random.Uint64N(3)<<62, make([]byte, random.IntN(500))
		for i := range entry {
			entry[i] = byte(random.Uint32())
		}
		if n%500 == 0 {
			entry = bytes.Repeat([]byte{7}, 5*chunkBytes)
		}
		if err := p.Add(key, entry); err != nil {
			t.Fatal(err)
		}
		want[Of(key)] = append(want[Of(key)], entry)
	}
	if p.Aside() == 0 || len(want) != 3 {
		t.Fatalf("%d bytes were put aside of %d piles", p.Aside(), len(want))
	}
	for range 2 {
		for num := range Many {
			same(t, p, num, want[num])
		}
	}
	enough := errors.New("enough")
	if err := p.Each(0, func([]byte) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("an error of who looks: %v", err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func same(t *testing.T, p *Piles, num int, want [][]byte) {
	t.Helper()
	var got [][]byte
	if err := p.Each(num, func(entry []byte) error {
		got = append(got, bytes.Clone(entry))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Fatalf("pile %d: %d entries, want %d, or others", num, len(got), len(want))
	}
}

// TestARoomIsBounded: several share it, and what is closed gives its part back.
func TestARoomIsBounded(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	random := rand.New(rand.NewPCG(3, 4))
	entry := make([]byte, chunkBytes)
	for i := range entry {
		entry[i] = byte(random.Uint32())
	}
	room := NewRoom(4 * chunkBytes)
	fill := func(p *Piles) (n int, err error) {
		for ; err == nil && n < 100; n++ {
			err = p.Add(0, entry)
		}
		return n, err
	}
	one, other := New(room), New(room)
	defer other.Close()
	if n, err := fill(one); !errors.Is(err, ErrFull) || n > 6 {
		t.Fatalf("after %d entries: %v", n, err)
	}
	if n, err := fill(other); !errors.Is(err, ErrFull) || n > 2 {
		t.Fatalf("of another one, after %d entries: %v", n, err)
	}
	one.Close()
	other.Close()
	if n, err := fill(one); n < 5 {
		t.Errorf("once there is room again, after %d entries: %v", n, err)
	}
	one.Close()
}

// TestADirectoryThatIsNone: the error says which setting names it.
func TestADirectoryThatIsNone(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	p := New(nil)
	defer p.Close()
	var err error
	for range 2 {
		err = errors.Join(err, p.Add(0, make([]byte, chunkBytes)))
	}
	if !errors.Is(err, os.ErrNotExist) || !bytes.Contains([]byte(err.Error()), []byte("TMPDIR")) {
		t.Errorf("got %v", err)
	}
}

// TestMemory: full piles hold no more than a chunk of each, and a few bytes of each in the file.
func TestMemory(t *testing.T) {
	p := New(nil)
	defer p.Close()
	const entries, length, most = 500_000, 200, 24 << 20
	entry := make([]byte, length)
	random := rand.New(rand.NewPCG(5, 6))
	for range entries {
		if err := p.Add(random.Uint64(), entry); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if memory.HeapAlloc > most {
		t.Errorf("%d MiB of memory for %d MiB of entries, expected at most %d", memory.HeapAlloc>>20, entries*length>>20, most>>20)
	}
}
