package decode

import (
	"github.com/anabranch/anabranch/ingest/internal/decode/internal/member"
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
	terms      Terms
	receivedAt int64 // Unix milliseconds
	accepted   Events
	blocked    Blocked
	suppressed int // calls left out
	nobody     int // calls with an id that stands for nobody
	written    int // bytes, refused records included: work is bounded, not only its result
	stamps     timestamp.Reader
	skew       timestamp.Skew

	row      int             // of the call in hand
	happened timestamp.Stamp // when the imported call in hand did, by its own account

	editor  member.Editor
	review  Call
	scratch []byte
	id      []byte // the text of an id that has escapes
}

func (p *press) reset(t *Terms) {
	p.terms, p.receivedAt = *t, t.ReceivedAt.UnixMilli()
	p.accepted, p.blocked = p.accepted.emptied(), p.blocked.emptied()
	p.suppressed, p.nobody, p.written = 0, 0, 0
	p.stamps, p.skew, p.happened = timestamp.Reader{}, timestamp.Skew{}, timestamp.Stamp{}
}

// release lets go of what a request has lent.
func (p *press) release() { p.terms, p.review.members = Terms{}, nil }

// finish writes a call that breaks no rule where it belongs: among the accepted
// events or among the blocked ones.
func (p *press) finish(o *stablejson.Object, call schemas.Type, messageID string) *schemas.Violation {
	if p.terms.Review == nil {
		return p.write(&p.accepted, o, call, messageID)
	}
	blocked := p.reviewed(o, call)
	if blocked == nil {
		return p.write(&p.accepted, o, call, messageID)
	}
	if violation := p.write(&p.blocked.Events, o, call, messageID); violation != nil {
		return violation
	}
	p.blocked.violations = append(p.blocked.violations, *blocked)
	return nil
}

// write appends the call to events, or nothing when its record would be too
// large.
func (p *press) write(events *Events, o *stablejson.Object, call schemas.Type, messageID string) *schemas.Violation {
	out := events.text
	e := entry{value: len(out), call: call, messageID: messageID, happened: p.happened}
	out = o.Append(out)
	e.key = len(out)
	who, blocked := p.identity(o, messageID)
	out = append(out, who...)
	e.integrations = len(out)
	if m := o.Get(keyIntegrations); len(m) > len(`{}`) {
		out = append(out, m...)
	}
	e.end = len(out)
	p.written += e.end - e.value
	if e.end-e.value > maxRecordBytes {
		events.text = out[:e.value]
		return tooLarge("with the batch's context the call is longer than %d bytes", maxRecordBytes)
	}
	if blocked {
		p.nobody++
	}
	events.text, events.entries = out, append(events.entries, e)
	return nil
}
