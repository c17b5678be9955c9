package audit

import (
	"fmt"
	"os"
	"slices"
)

const (
	pileBits = 8 // of a fingerprint's, to tell piles
	// chunk is how many facts of a pile are in memory: 16 MiB for all.
	chunk = 64 << 10 / factBytes
)

// piles sort facts in bounded memory: a fact goes to the pile that the first bits of its
// fingerprint tell, and what is too much for memory goes to a file without a name, in
// chunks of one pile each. A pile at a time is read back and sorted, since all that
// concerns one event is in one. The files of package seen hold each fingerprint once, and
// are asked for one: they do not serve.
type piles struct {
	file   *os.File
	bytes  int64
	memory [1 << pileBits][]fact
	chunks [1 << pileBits][]int64 // where those of a pile begin in the file
	buffer []byte
}

func (p *piles) add(f fact) error {
	num := f.fingerprint >> (64 - pileBits)
	if len(p.memory[num]) == chunk {
		if err := p.spill(int(num)); err != nil {
			return err
		}
	}
	p.memory[num] = append(p.memory[num], f)
	return nil
}

// spill writes what is in memory of a pile to the file.
func (p *piles) spill(num int) (err error) {
	if p.file == nil {
		if p.file, err = os.CreateTemp("", "anabranch-audit-*"); err != nil {
			return fmt.Errorf("make a temporary file: %w", err)
		}
		// A kill leaves nothing; where a file in use can't be removed, closing does it.
		_ = os.Remove(p.file.Name())
	}
	p.buffer = p.buffer[:0]
	for i := range p.memory[num] {
		p.buffer = p.memory[num][i].append(p.buffer)
	}
	if _, err = p.file.WriteAt(p.buffer, p.bytes); err != nil {
		return fmt.Errorf("put %d facts aside (TMPDIR says where): %w", len(p.memory[num]), err)
	}
	p.chunks[num] = append(p.chunks[num], p.bytes)
	p.bytes += int64(len(p.buffer))
	p.memory[num] = p.memory[num][:0]
	return nil
}

// each hands out the groups of facts, in order of their fingerprints. Nothing may be added
// any more.
func (p *piles) each(group func([]fact)) error {
	var all []fact
	for num := range p.memory {
		all = append(all[:0], p.memory[num]...)
		p.memory[num] = nil
		for _, from := range p.chunks[num] {
			p.buffer = slices.Grow(p.buffer[:0], chunk*factBytes)[:chunk*factBytes]
			if _, err := p.file.ReadAt(p.buffer, from); err != nil {
				return fmt.Errorf("read facts that were put aside: %w", err)
			}
			for b := p.buffer; len(b) > 0; b = b[factBytes:] {
				all = append(all, factOf(b))
			}
		}
		slices.SortFunc(all, compareFacts)
		for rest := all; len(rest) > 0; {
			n := 1
			for n < len(rest) && sameGroup(&rest[0], &rest[n]) {
				n++
			}
			group(rest[:n])
			rest = rest[n:]
		}
	}
	return nil
}

func (p *piles) close() {
	if p.file != nil {
		_ = p.file.Close()
		_ = os.Remove(p.file.Name())
	}
}
