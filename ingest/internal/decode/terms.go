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

	// Suppressed tells whether nothing may be stored of the user with an id. The
	// text is only valid during the call.
	Suppressed func(userID []byte) bool
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
	if id == nil {
		return false
	}
	text := id[1 : len(id)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		p.id = member.AppendText(p.id[:0], id)
		text = p.id
	}
	return p.terms.Suppressed(text)
}
