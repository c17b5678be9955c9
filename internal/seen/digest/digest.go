package digest

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/seen"
	"github.com/anabranch/anabranch/schemas"
)

// Headers of a call that its fingerprint is made of, or that say that it is no copy.
const (
	sourceHeader    = "source"
	messageIDHeader = "message-id"
	originHeader    = "origin"
)

// Calls makes fingerprints of the calls on a topic. It belongs to one goroutine.
type Calls struct {
	key     seen.Key
	scratch []byte
}

// Of returns those of the topic with an id.
func Of(topicID string) *Calls { return &Calls{key: seen.KeyOf("topic", topicID)} }

// KeyID names the key that the fingerprints are made with.
func (c *Calls) KeyID() uint32 { return c.key.ID() }

// Fingerprint returns that of a record's call; false for what is never a copy: what has no
// source or messageId, and what was sent again on an operator's request.
func (c *Calls) Fingerprint(rec *kgo.Record) (fp seen.Fingerprint, ok bool) {
	source, messageID, origin := named(rec)
	if rec.Attrs.IsControl() || len(source) == 0 || len(messageID) == 0 || string(origin) == string(schemas.OriginReplay) {
		return fp, false
	}
	return c.of(source, messageID, rec), true
}

// Any returns the fingerprint of a record whatever it is, without what it lacks.
func (c *Calls) Any(rec *kgo.Record) seen.Fingerprint {
	source, messageID, _ := named(rec)
	return c.of(source, messageID, rec)
}

func (c *Calls) of(source, messageID []byte, rec *kgo.Record) (fp seen.Fingerprint) {
	fp, c.scratch = c.key.Of(c.scratch, source, messageID, rec.Key)
	return fp
}

// named is what the headers of a record say of its call.
func named(rec *kgo.Record) (source, messageID, origin []byte) {
	for i := range rec.Headers {
		switch h := &rec.Headers[i]; h.Key {
		case sourceHeader:
			source = h.Value
		case messageIDHeader:
			messageID = h.Value
		case originHeader:
			origin = h.Value
		}
	}
	return source, messageID, origin
}

// Most is how many fingerprints one record has.
const Most = 1 << 14

// digest is what was seen between two offsets of a partition.
type digest struct {
	of       seen.Identity
	from, to int64 // to excluded
	bucket   int64
	fps      []seen.Fingerprint
}

// layout is the first byte of a digest.
const (
	layout      = 1
	headerBytes = 1 + seen.Bytes + 3*8
)

func (d *digest) value() []byte {
	b := make([]byte, 0, headerBytes+len(d.fps)*seen.Bytes)
	b = append(b, layout)
	b = append(b, d.of[:]...)
	for _, n := range []int64{d.from, d.to, d.bucket} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return seen.Append(b, d.fps...)
}

func parse(b []byte) (d digest, err error) {
	if len(b) < headerBytes || b[0] != layout || (len(b)-headerBytes)%seen.Bytes != 0 {
		return d, fmt.Errorf("%d bytes are no digest of layout %d", len(b), layout)
	}
	d.of = seen.Identity(b[1:])
	for i, n := range []*int64{&d.from, &d.to, &d.bucket} {
		*n = int64(binary.BigEndian.Uint64(b[1+seen.Bytes+8*i:]))
	}
	if d.from < 0 || d.to < d.from || d.bucket < 0 {
		return d, fmt.Errorf("offsets %d to %d in bucket %d are none", d.from, d.to, d.bucket)
	}
	d.fps = seen.Parse(nil, b[headerBytes:])
	return d, nil
}
