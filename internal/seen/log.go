package seen

import (
	"encoding/binary"
	"hash/crc32"
)

// The log of a generation has what was added to it, until a run is made of it:
//
//	header  what the log is about, and a checksum
//	chunks  each the offsets it is of, how many fingerprints, a checksum, and they
//
// Chunks follow on one another. What a crash has left half-written is cut off: the rest
// comes from elsewhere, as all that was not written.
const (
	logMagic    = "seenlog2"
	headerBytes = len(logMagic) + Bytes + 8 + 8 + 8 + 4
	chunkBytes  = 8 + 8 + 4 + 4
)

func logHeader(of Identity, ext extent) []byte {
	b := append(make([]byte, 0, headerBytes), logMagic...)
	b = append(b, of[:]...)
	for _, n := range []int64{ext.bucket, ext.after, ext.from} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// chunk is what was added at once.
type chunk struct {
	from, to int64
	fps      []Fingerprint
}

func (c chunk) append(b []byte) []byte {
	from := len(b)
	b = binary.BigEndian.AppendUint64(b, uint64(c.from))
	b = binary.BigEndian.AppendUint64(b, uint64(c.to))
	b = binary.BigEndian.AppendUint32(b, uint32(len(c.fps)))
	b = binary.BigEndian.AppendUint32(b, 0)
	b = Append(b, c.fps...)
	binary.BigEndian.PutUint32(b[from+chunkBytes-4:], chunkSum(b[from:]))
	return b
}

// chunkSum is the checksum of a chunk without that itself.
func chunkSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:chunkBytes-4], castagnoli), castagnoli, b[chunkBytes:])
}

// parseLog reads a log up to where it is damaged: whole is how many bytes of it are not.
func parseLog(b []byte) (of Identity, g *generation, whole int, err error) {
	if len(b) < headerBytes || string(b[:len(logMagic)]) != logMagic {
		return of, nil, 0, corrupt("it does not begin like a log")
	}
	if binary.BigEndian.Uint32(b[headerBytes-4:]) != crc32.Checksum(b[:headerBytes-4], castagnoli) {
		return of, nil, 0, corrupt("checksum of the header")
	}
	rest := b[len(logMagic):]
	of = Identity(rest)
	number := func(i int) int64 { return int64(binary.BigEndian.Uint64(rest[Bytes+8*i:])) }
	g = &generation{extent: extent{bucket: number(0), after: number(1), from: number(2), to: number(2)}}
	for whole = headerBytes; ; {
		c, n := parseChunk(b[whole:])
		if n == 0 || c.from != g.to || c.to < c.from {
			break
		}
		for _, fp := range c.fps {
			g.add(fp)
		}
		g.to = c.to
		whole += n
	}
	if whole < len(b) {
		err = corrupt("%d bytes behind offset %d", len(b)-whole, g.to)
	}
	return of, g, whole, err
}

// parseChunk reads the chunk that bytes begin with, and how long it is; 0: it is not whole.
func parseChunk(b []byte) (c chunk, n int) {
	if len(b) < chunkBytes {
		return c, 0
	}
	count := int(binary.BigEndian.Uint32(b[16:]))
	if n = chunkBytes + count*Bytes; n > len(b) || chunkSum(b[:n]) != binary.BigEndian.Uint32(b[chunkBytes-4:]) {
		return c, 0
	}
	c.from, c.to = int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint64(b[8:]))
	c.fps = Parse(nil, b[chunkBytes:n])
	return c, n
}
