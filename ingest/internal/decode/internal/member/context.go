package member

import (
	"bytes"
	"net/netip"

	"github.com/anabranch/anabranch/internal/stablejson"
)

const keyContext = "context"

// FillIP sets the context.ip of a call that has none, if the call asks for it or
// always. One that it has, null included, is what the customer wants it to be
// (protocol, 11).
func (e *Editor) FillIP(call *stablejson.Object, ip netip.Addr, always bool) {
	context := call.Get(keyContext)
	if !always && !e.asksForIP(context) || e.hasIP(context) {
		return
	}
	text := e.text[:0]
	if len(context) > len(`{}`) {
		text = append(append(text, context[:len(context)-1]...), ',')
	} else {
		text = append(text, '{')
	}
	text = append(text, `"ip":"`...)
	text = ip.AppendTo(text)
	text = append(text, `"}`...)
	e.text = text
	call.Set(keyContext, text)
}

// asksForIP and hasIP look for the key in the text before they take the context
// apart, which most calls are spared that way.

func (e *Editor) asksForIP(context []byte) bool {
	return bytes.Contains(context, []byte(`"direct":true`)) && string(e.get(context, "direct")) == "true"
}

func (e *Editor) hasIP(context []byte) bool {
	return bytes.Contains(context, []byte(`"ip":`)) && e.get(context, "ip") != nil
}

// get returns the value under a key of a stable object, nil when there is none.
func (e *Editor) get(object []byte, key string) []byte {
	e.open(object)
	return e.own.Get(key)
}

// Finding is something that a reviewer has against a call.
type Finding struct {
	Path    string // of the member in question, such as "properties.total"
	Message string // for people; it should not quote the customer's values
}

// Mark writes findings into the context of a call, under protocols.violations, in
// the place of any that the client has put there.
func (e *Editor) Mark(call *stablejson.Object, findings []Finding) {
	var protocols stablejson.Object
	e.open(call.Get(keyContext))
	if protocols.Parse(e.own.Get("protocols")) != nil {
		protocols.Reset() // none, or the client's own idea of it
	}
	e.text = appendFindings(e.text[:0], findings)
	protocols.Set("violations", e.text)
	e.text = protocols.Append(e.text[:0])
	e.own.Set("protocols", e.text)
	e.text = e.own.Append(e.text[:0])
	call.Set(keyContext, e.text)
}

// appendFindings appends findings as a stable JSON array.
func appendFindings(dst []byte, findings []Finding) []byte {
	dst = append(dst, '[')
	for i, f := range findings {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"path":`...)
		dst = stablejson.AppendString(dst, f.Path)
		dst = append(dst, `,"message":`...)
		dst = stablejson.AppendString(dst, f.Message)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
