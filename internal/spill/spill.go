package spill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/s2"
)

const (
	pileBits = 8 // of a key's, to tell piles
	// Many is how many piles there are.
	Many = 1 << pileBits
	// chunkBytes is how much of a pile is in memory: 8 MiB for all.
	chunkBytes = 32 << 10
)

// ErrFull is wrapped by the error of an entry for which a [Room] has no place left.
var ErrFull = errors.New("too much has been put aside")

// Room is what several [Piles] may take of the disk together. It is safe for concurrent use.
type Room struct {
	all  int64
	left atomic.Int64
}

// NewRoom returns room for some bytes of files.
func NewRoom(bytes int64) *Room {
	r := &Room{all: bytes}
	r.left.Store(bytes)
	return r
}

func (r *Room) take(bytes int64) error {
	if r != nil && r.left.Add(-bytes) < 0 {
		r.give(bytes)
		return fmt.Errorf("%w: more than %d MiB", ErrFull, r.all>>20)
	}
	return nil
}

func (r *Room) give(bytes int64) {
	if r != nil {
		r.left.Add(bytes)
	}
}

// Piles are entries of any length, [Many] piles of them. They are not for concurrent use.
type Piles struct {
	room   *Room
	file   *os.File
	bytes  int64
	memory [Many][]byte // each entry behind its length
	chunks [Many][]chunk
	packed []byte
	plain  []byte
}

// chunk is where entries of one pile are in the file, compressed.
type chunk struct {
	from   int64
	length int32
}

// New returns piles without entries, that share a room with others; nil: the disk is theirs.
func New(room *Room) *Piles { return &Piles{room: room} }

// Of is the number of the pile that a key belongs to, by its first bits: keys have to be
// evenly spread.
func Of(key uint64) int { return int(key >> (64 - pileBits)) }

// Add puts a copy of an entry on the pile of its key. The error is that of the file, or
// wraps [ErrFull].
func (p *Piles) Add(key uint64, entry []byte) error {
	num := Of(key)
	if len(p.memory[num]) > 0 && len(p.memory[num])+len(entry)+binary.MaxVarintLen32 > chunkBytes {
		if err := p.spill(num); err != nil {
			return err
		}
	}
	p.memory[num] = append(binary.AppendUvarint(p.memory[num], uint64(len(entry))), entry...)
	return nil
}

// spill writes what is in memory of a pile to the file.
func (p *Piles) spill(num int) (err error) {
	if p.file == nil {
		if p.file, err = os.CreateTemp("", "anabranch-*"); err != nil {
			return fmt.Errorf("make a temporary file (TMPDIR names the directory): %w", err)
		}
		// A kill leaves nothing; where a file in use can't be removed, closing does it.
		_ = os.Remove(p.file.Name())
	}
	p.packed = s2.Encode(p.packed[:cap(p.packed)], p.memory[num])
	length := int64(len(p.packed))
	if err := p.room.take(length); err != nil {
		return err
	}
	if _, err := p.file.WriteAt(p.packed, p.bytes); err != nil {
		p.room.give(length)
		return fmt.Errorf("put %d bytes aside (TMPDIR names the directory): %w", length, err)
	}
	p.chunks[num] = append(p.chunks[num], chunk{p.bytes, int32(length)})
	p.bytes += length
	if p.memory[num] = p.memory[num][:0]; cap(p.memory[num]) > 2*chunkBytes {
		p.memory[num] = nil // of an entry that is a long one
	}
	return nil
}

// Each hands out the entries of a pile, in the order in which they were added, or ends with
// the error of look. An entry holds until look returns.
func (p *Piles) Each(num int, look func(entry []byte) error) error {
	for _, at := range p.chunks[num] {
		if cap(p.packed) < int(at.length) {
			p.packed = make([]byte, at.length)
		}
		packed := p.packed[:at.length]
		if _, err := p.file.ReadAt(packed, at.from); err != nil {
			return fmt.Errorf("read what was put aside: %w", err)
		}
		var err error
		if p.plain, err = s2.Decode(p.plain[:cap(p.plain)], packed); err != nil {
			return fmt.Errorf("read what was put aside: %w", err)
		}
		if err := each(p.plain, look); err != nil {
			return err
		}
	}
	return each(p.memory[num], look)
}

func each(entries []byte, look func([]byte) error) error {
	for len(entries) > 0 {
		length, n := binary.Uvarint(entries)
		if err := look(entries[n:][:length:length]); err != nil {
			return err
		}
		entries = entries[n+int(length):]
	}
	return nil
}

// Aside is how many bytes are in the file.
func (p *Piles) Aside() int64 { return p.bytes }

// Close gives memory, file and room back. Piles that are closed may be filled again.
func (p *Piles) Close() {
	if p.file != nil {
		_ = p.file.Close()
		_ = os.Remove(p.file.Name())
	}
	p.room.give(p.bytes)
	*p = Piles{room: p.room}
}
