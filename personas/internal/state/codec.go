package state

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/anabranch/anabranch/personas/internal/event"
)

// ErrBroken says that bytes are no state.
var ErrBroken = errors.New("broken state")

// epoch is what instants are written from: 2020. A byte less than from 1970.
const epoch = int64(1_577_836_800_000)

func appendUnsigned(dst []byte, n uint64) []byte { return binary.AppendUvarint(dst, n) }
func appendSigned(dst []byte, n int64) []byte    { return binary.AppendVarint(dst, n) }

func appendBytes(dst, text []byte) []byte {
	return append(appendUnsigned(dst, uint64(len(text))), text...)
}

// Reader reads what the codecs write. After a failure it reads zeros.
type Reader struct {
	Rest   []byte
	Failed bool
}

// Unsigned reads an unsigned varint.
func (r *Reader) Unsigned() uint64 {
	n, size := binary.Uvarint(r.Rest)
	return n * r.advance(size)
}

// Signed reads a signed varint.
func (r *Reader) Signed() int64 {
	n, size := binary.Varint(r.Rest)
	return n * int64(r.advance(size))
}

// advance passes over size bytes and returns 1, or fails and returns 0.
func (r *Reader) advance(size int) uint64 {
	if size <= 0 || r.Failed {
		r.Rest, r.Failed = nil, true
		return 0
	}
	r.Rest = r.Rest[size:]
	return 1
}

// Bytes reads bytes with their length in front. They are a view, nil when empty.
func (r *Reader) Bytes() []byte {
	n := r.Unsigned()
	if n > uint64(len(r.Rest)) {
		r.Rest, r.Failed = nil, true
		return nil
	}
	if n == 0 {
		return nil
	}
	text := r.Rest[:n:n]
	r.Rest = r.Rest[n:]
	return text
}

// The ways in which floats are written: many are whole, or cents.
const (
	wholes = iota
	cents
	bits
)

const exact = 1 << 53 // up to which whole numbers are exact

func appendFloat(dst []byte, f float64) []byte {
	for way, scale := range [...]float64{wholes: 1, cents: 100} {
		scaled := math.Round(f * scale)
		if math.Abs(scaled) < exact && math.Float64bits(scaled/scale) == math.Float64bits(f) {
			zigzag := uint64(int64(scaled)<<1) ^ uint64(int64(scaled)>>63)
			return appendUnsigned(dst, zigzag<<2|uint64(way))
		}
	}
	return binary.LittleEndian.AppendUint64(append(dst, bits), math.Float64bits(f))
}

func (r *Reader) float() float64 {
	head := r.Unsigned()
	zigzag := head >> 2
	whole := float64(int64(zigzag>>1) ^ -int64(zigzag&1))
	switch head & 3 {
	case wholes:
		return whole
	case cents:
		return whole / 100
	}
	if len(r.Rest) < 8 {
		r.advance(0)
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(r.Rest))
	r.advance(8)
	return f
}

func (b *buckets) Append(dst []byte, s *Spec, clock int64) []byte {
	last := int64(0)
	for _, one := range b.all {
		if s.Grain > 0 {
			if s.gone(s.at(one.index), clock) {
				continue
			}
			dst = appendSigned(dst, one.index-last)
			last = one.index
		}
		dst = one.append(dst, s)
	}
	return dst
}

func (b *bucket) append(dst []byte, s *Spec) []byte {
	switch s.Content {
	case Counts:
		return appendUnsigned(dst, uint64(b.n))
	case Sums:
		return appendFloat(appendUnsigned(dst, uint64(b.n)), b.sum)
	case Earliest, Latest:
		dst = appendSigned(dst, b.pick.at-b.base(s))
		dst = appendSigned(dst, b.pick.offset)
	default:
	}
	return appendBytes(dst, b.pick.raw)
}

// base is what the time of a bucket's value is written from.
func (b *bucket) base(s *Spec) int64 {
	if s.Grain == 0 {
		return epoch
	}
	return s.at(b.index)
}

func decodeBuckets(r *Reader, s *Spec) *buckets {
	b := &buckets{}
	last := int64(0)
	for len(r.Rest) > 0 && !r.Failed {
		var one bucket
		if s.Grain > 0 {
			step := r.Signed()
			one.index = last + step
			last = one.index
			if len(b.all) > 0 && step <= 0 {
				r.Failed = true
			}
		} else if len(b.all) > 0 {
			r.Failed = true
		}
		one.decode(r, s)
		b.all = append(b.all, one)
	}
	return b
}

func (b *bucket) decode(r *Reader, s *Spec) {
	switch s.Content {
	case Counts:
		b.n = int64(r.Unsigned())
	case Sums:
		b.n = int64(r.Unsigned())
		b.sum = r.float()
	case Earliest, Latest:
		b.pick = &pick{at: r.Signed() + b.base(s), offset: r.Signed(), raw: r.Bytes()}
	default:
		b.pick = &pick{raw: r.Bytes()}
		number, ok := event.Number(b.pick.raw)
		b.pick.number = number
		r.Failed = r.Failed || !ok
	}
	r.Failed = r.Failed || b.n < 0 || math.IsNaN(b.sum)
}

func (v *values) Append(dst []byte, s *Spec, clock int64) []byte {
	for i := range v.all {
		e := &v.all[i]
		if s.Content == Times {
			if !s.gone(e.last, clock) {
				dst = appendSigned(appendBytes(dst, e.raw), e.last-epoch)
			}
			continue
		}
		dst = e.append(dst, s, clock)
	}
	return dst
}

func (e *entry) append(dst []byte, s *Spec, clock int64) []byte {
	kept := e.counts
	if s.Grain > 0 {
		for len(kept) > 0 && s.gone(s.at(kept[0].index), clock) {
			kept = kept[1:]
		}
	}
	if len(kept) == 0 {
		return dst
	}
	dst = appendSigned(appendBytes(dst, e.raw), e.last-epoch)
	dst = appendUnsigned(dst, uint64(len(kept)))
	last := int64(0)
	for _, t := range kept {
		dst = appendUnsigned(appendSigned(dst, t.index-last), uint64(t.n))
		last = t.index
	}
	return dst
}

func decodeValues(r *Reader, s *Spec) *values {
	v := &values{}
	for len(r.Rest) > 0 && !r.Failed {
		e := entry{raw: r.Bytes(), last: epoch + r.Signed()}
		if s.Content != Times {
			e.counts = decodeTallies(r)
		}
		if n := len(v.all); e.raw == nil || n == s.Cap || n > 0 && event.Compare(v.all[n-1].raw, e.raw) >= 0 {
			r.Failed = true
		}
		v.all = append(v.all, e)
	}
	return v
}

func decodeTallies(r *Reader) []tally {
	n := r.Unsigned()
	if n > uint64(len(r.Rest)) {
		r.Failed = true
		return nil
	}
	all := make([]tally, 0, n)
	last := int64(0)
	for i := range n {
		step, count := r.Signed(), int64(r.Unsigned())
		if i > 0 && step <= 0 || count <= 0 {
			r.Failed = true
		}
		last += step
		all = append(all, tally{last, count})
	}
	return all
}

// ID reads a number of so many bytes, the highest first.
func (r *Reader) ID(size int) (id uint64) {
	if len(r.Rest) < size {
		r.Rest, r.Failed = nil, true
		return 0
	}
	for _, b := range r.Rest[:size] {
		id = id<<8 | uint64(b)
	}
	r.Rest = r.Rest[size:]
	return id
}
