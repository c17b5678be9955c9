package ingest

import (
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
	// maxRequestBytes is sixteen times the largest body: far above what an
	// honest batch grows to, and small beside the memory of the process.
	maxRequestBytes = 8 << 20
)

// request is what all calls of one request have in common.
type request struct {
	source     string
	call       schemas.Type // from the path; "" in a batch, where each call has its own
	receivedAt int64        // Unix milliseconds
	batch      *surroundings
}

// press completes calls and writes their one canonical form, one behind the
// other. It keeps its memory between requests.
type press struct {
	out     []byte
	entries []entry
	written int // bytes, refused records included: work is bounded, not only its result
	stamps  stampReader

	merger  merger
	scratch []byte
}

// entry is one accepted call, as offsets into out, where its value, its key and
// its integrations stand in this order.
type entry struct {
	value, key, integrations, end int

	call      schemas.Type
	messageID string
}

func (p *press) reset() {
	p.out, p.entries, p.written = p.out[:0], p.entries[:0], 0
	p.stamps = stampReader{}
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
