package decode

import (
	"github.com/anabranch/anabranch/ingest/internal/decode/internal/member"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// Call is a good call under review, complete but for what Mark adds. It is valid
// while Terms.Review looks at it.
type Call struct {
	kind     schemas.Type
	members  *stablejson.Object
	findings []Finding
}

// Finding is something that a reviewer has against a call.
type Finding = member.Finding

// Type returns the call's type, one of those that the API accepts.
func (c *Call) Type() schemas.Type { return c.kind }

// Get returns the stable JSON value under a key of the call, nil when there is
// none. It must not be written to. Among the keys are event (a string that is not
// empty, of a track call), and properties and traits (objects, of the types of
// call that have them).
func (c *Call) Get(key string) []byte { return c.members.Get(key) }

// Event returns the name of a track call's event as a stable JSON string.
func (c *Call) Event() []byte { return c.members.Get(keyEvent) }

// Properties returns the call's properties, a stable JSON object, or nil.
func (c *Call) Properties() []byte { return c.members.Get(keyProperties) }

// Traits returns the call's traits, a stable JSON object, or nil.
func (c *Call) Traits() []byte { return c.members.Get(keyTraits) }

// Mark adds to what the event's context will say under protocols.violations: an
// array of objects with path and message.
func (c *Call) Mark(findings ...Finding) { c.findings = append(c.findings, findings...) }

// reviewed lets the reviewer look at the call o and returns why it is blocked.
func (p *press) reviewed(o *stablejson.Object, call schemas.Type) *schemas.Violation {
	c := &p.review
	c.kind, c.members, c.findings = call, o, c.findings[:0]
	violation := p.terms.Review(c)
	if len(c.findings) > 0 {
		p.editor.Mark(o, c.findings)
	}
	return violation
}
