package seen

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/FastFilter/xorfilter"
)

// filters tell which fingerprints a run has not. Each is about the pages from where it begins
// to the next one, so of all filters of a run one is asked, however large the run is.
type filters []filter

type filter struct {
	begin uint64 // the first half of the first fingerprint that it is about
	xorfilter.BinaryFuse8
}

const (
	// perFilter is how many fingerprints a filter is about, which are those of so many
	// pages: to make one takes forty bytes of memory for each.
	filterPages = 1 << 12
	perFilter   = filterPages * perPage

	filterHeaderBytes = 20
)

// may reports whether a run may have a fingerprint.
func (f filters) may(fp Fingerprint) bool {
	for i := f.last(fp.hi); i >= 0; i-- {
		if f[i].Contains(fp.lo) {
			return true
		}
		if f[i].begin < fp.hi {
			break // what is before it ends before it, too
		}
	}
	return false
}

// last is the last filter that begins with a half or before it; -1: all are about later ones.
// Fingerprints are spread evenly, so it is near where it would be if they were so exactly.
func (f filters) last(hi uint64) int {
	near, _ := bits.Mul64(hi, uint64(len(f)))
	i := int(near)
	for i+1 < len(f) && f[i+1].begin <= hi {
		i++
	}
	for i >= 0 && i < len(f) && f[i].begin > hi {
		i--
	}
	return min(i, len(f)-1)
}

// making makes the filters of fingerprints that come in order.
type making struct {
	made    filters
	begin   uint64
	keys    []uint64
	builder xorfilter.BinaryFuseBuilder
}

// newMaking makes the filters of at most so many fingerprints. Memory that grew bit by bit
// would keep the collector busy beside the loop.
func newMaking(most int) *making { return &making{keys: make([]uint64, 0, min(most, perFilter))} }

func (m *making) add(fp Fingerprint) error {
	if len(m.keys) == perFilter {
		if err := m.next(); err != nil {
			return err
		}
	}
	if len(m.keys) == 0 {
		m.begin = fp.hi
	}
	m.keys = append(m.keys, fp.lo)
	return nil
}

func (m *making) next() error {
	made, err := xorfilter.BuildBinaryFuse[uint8](&m.builder, m.keys)
	if err != nil {
		return fmt.Errorf("make the filter of %d fingerprints: %w", len(m.keys), err)
	}
	made.Fingerprints = slices.Clone(made.Fingerprints) // the next one is made where they are
	m.made = append(m.made, filter{m.begin, xorfilter.BinaryFuse8(made)})
	m.keys = m.keys[:0]
	return nil
}

func (m *making) end() (filters, error) {
	if len(m.keys) > 0 {
		if err := m.next(); err != nil {
			return nil, err
		}
	}
	return m.made, nil
}

// bytes is how many append appends.
func (f filters) bytes() (n int) {
	for i := range f {
		n += filterHeaderBytes + len(f[i].Fingerprints)
	}
	return n
}

// append appends the filters as a file has them: how long each is, by what it was made, and
// what it has.
func (f filters) append(b []byte) []byte {
	for i := range f {
		one := &f[i]
		b = binary.BigEndian.AppendUint64(b, one.Seed)
		b = binary.BigEndian.AppendUint32(b, one.SegmentLength)
		b = binary.BigEndian.AppendUint32(b, one.SegmentCount)
		b = binary.BigEndian.AppendUint32(b, uint32(len(one.Fingerprints)))
		b = append(b, one.Fingerprints...)
	}
	return b
}

// parseFilters reads the filters of pages that begin with fences.
func parseFilters(b []byte, fences []uint64) (f filters, err error) {
	for page := 0; page < len(fences); page += filterPages {
		if len(b) < filterHeaderBytes {
			return nil, corrupt("%d bytes are too few for the filter of page %d", len(b), page)
		}
		seed, segment, segments := binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
		n := uint64(binary.BigEndian.Uint32(b[16:]))
		b = b[filterHeaderBytes:]
		// A filter looks there without a check of its own.
		if n > uint64(len(b)) || bits.OnesCount32(segment) != 1 || uint64(segment)*(uint64(segments)+2) != n {
			return nil, corrupt("filter of page %d, of %d bytes, with %d segments of %d", page, n, segments, segment)
		}
		f = append(f, filter{fences[page], xorfilter.BinaryFuse8{
			Seed: seed, SegmentLength: segment, SegmentLengthMask: segment - 1,
			SegmentCount: segments, SegmentCountLength: segments * segment, Fingerprints: slices.Clone(b[:n]),
		}})
		b = b[n:]
	}
	if len(b) > 0 {
		return nil, corrupt("%d bytes behind the filters", len(b))
	}
	return f, nil
}
