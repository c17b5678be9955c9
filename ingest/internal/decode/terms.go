package decode

import (
	"bytes"
	"net/netip"
	"time"

	"github.com/anabranch/anabranch/ingest/internal/decode/internal/member"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// Terms are what the calls of one request are taken in on. Only ReceivedAt is
// needed.
type Terms struct {
	ReceivedAt time.Time // by the server's clock

	// IP is the address of the client, the zero Addr when it is not known. It
	// becomes the context.ip of a call that has none (protocol, 11): of every call
	// if FillIP, which says that a browser sent the request, else of those alone
	// that ask for it with "direct": true in their context.
	IP     netip.Addr
	FillIP bool

	// Review looks at each call that may be accepted, before it is written. What
	// it returns blocks the call; nil lets it through.
	Review func(*Call) *schemas.Violation

	// BlockedIDs are the ids that stand for nobody. Nil: the usual ones.
	BlockedIDs *schemas.BlockedIDs

	// Suppressed tells whether nothing may be stored of the user with an id. The
	// text is only valid during the call.
	Suppressed func(userID []byte) bool

	// Import is set for the calls of ParseRows. Their times are kept.
	Import *Import
}

// suppresses tells whether o concerns a suppressed user. An alias concerns two:
// stored, it would tie the data of one to the other.
func (p *press) suppresses(o *stablejson.Object, call schemas.Type) bool {
	if p.terms.Suppressed == nil {
		return false
	}
	return p.concernsSuppressed(o.Get(keyUserID)) || call == schemas.TypeAlias && p.concernsSuppressed(o.Get(keyPreviousID))
}

// concernsSuppressed is suppresses for one id, a stable JSON string or nil.
func (p *press) concernsSuppressed(id []byte) bool {
	return id != nil && p.terms.Suppressed(p.text(id))
}

// identity returns the text of who did it, which is the key of the record: all
// calls of one user are in one partition, in order. An id that stands for nobody,
// which blocked tells, would put the calls of thousands behind one another; a call
// with no other stands alone. Validation has seen that there is an id. The text is
// valid until the next id is looked at.
func (p *press) identity(o *stablejson.Object, messageID string) (text []byte, blocked bool) {
	for _, key := range [...]string{keyUserID, keyAnonymousID} {
		id := o.Get(key)
		if id == nil {
			continue
		}
		if text = p.text(id); !p.terms.BlockedIDs.Blocks(text) {
			return text, blocked
		}
		blocked = true
	}
	p.id = append(p.id[:0], messageID...)
	return p.id, blocked
}

// text returns the text of a stable JSON string. It is valid until the next call.
func (p *press) text(id []byte) []byte {
	inner := id[1 : len(id)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	p.id = member.AppendText(p.id[:0], id)
	return p.id
}
