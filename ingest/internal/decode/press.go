package decode

import (
	"time"

	"github.com/anabranch/anabranch/ingest/internal/timestamp"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// Bounds of what a request may become. A batch's context is written into each
// of its calls, so without them 256 KB of context and 2,500 small calls, within
// all limits of the protocol, would be 640 MB.
const (
	// maxRecordBytes keeps a record below the 1,000,012 bytes of a record batch
	// that client and brokers allow by default, with room for headers.
	maxRecordBytes = 900 << 10
	// MaxRequestBytes is what all records of a request may have together, in
	// bytes: sixteen times the largest body, which is far above what an honest
	// batch grows to, and small beside the memory of the process.
	MaxRequestBytes = 8 << 20
)

// press completes calls and writes their one canonical form, one behind the
// other. It keeps its memory between requests.
type press struct {
	receivedAt int64 // Unix milliseconds
	out        []byte
	entries    []entry
	written    int // bytes, refused records included: work is bounded, not only its result
	stamps     timestamp.Reader

	merger  merger
	scratch []byte
}

func (p *press) reset(receivedAt time.Time) {
	p.receivedAt = receivedAt.UnixMilli()
	p.out, p.entries, p.written = p.out[:0], p.entries[:0], 0
	p.stamps = timestamp.Reader{}
}

// write appends the call to out, or nothing when its record would be too large.
func (p *press) write(o *stablejson.Object, call schemas.Type, messageID string) *schemas.Violation {
	e := entry{value: len(p.out), call: call, messageID: messageID}
	p.out = o.Append(p.out)
	e.key = len(p.out)
	p.out = appendText(p.out, identity(o))
	e.integrations = len(p.out)
	if m := o.Get(keyIntegrations); len(m) > len(`{}`) {
		p.out = append(p.out, m...)
	}
	e.end = len(p.out)
	p.written += e.end - e.value
	if e.end-e.value > maxRecordBytes {
		p.out = p.out[:e.value]
		return tooLarge("with the batch's context the call is longer than %d bytes", maxRecordBytes)
	}
	p.entries = append(p.entries, e)
	return nil
}

// identity returns who did it, which is the key of the record: all calls of one
// user are in one partition, in order. Validation has seen that there is one.
func identity(o *stablejson.Object) []byte {
	if id := o.Get(keyUserID); id != nil {
		return id
	}
	return o.Get(keyAnonymousID)
}
