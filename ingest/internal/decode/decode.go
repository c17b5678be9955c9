package decode

import (
	"errors"

	"github.com/anabranch/anabranch/ingest/internal/decode/internal/member"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// Decoder takes the body of one request apart and writes its calls anew, as
// events. It is used for many requests, one at a time, and keeps its memory
// between them; the zero value is ready for use.
//
// First Parse walks the whole body, once: in a batch what concerns every call
// (context, sentAt, the write key) mostly stands behind the calls. Then Accept
// judges and completes each call, and Events hands over what was accepted.
type Decoder struct {
	reader stablejson.Reader
	path   schemas.Type // the type that the path has; "" for a batch
	size   int          // of the body
	body   []byte       // while it is walked
	calls  []call
	batch  surroundings
	fault  fault
	press  press
}

// fault is what makes a batch no batch although its body is JSON.
type fault int

const (
	faultNone fault = iota
	faultNoObject
	faultNoArray
	faultTooMany
)

// call is one call as it came.
type call struct {
	members stablejson.Object
	from    int                // where it begins in the body
	bytes   int                // its length there
	object  bool               // otherwise members is empty
	deep    bool               // a part was cut out of it, see parseDeep
	refused *schemas.Violation // why it can't be read; of a row
}

// surroundings is what a batch says of all its calls. For a single call it is
// the call itself, of which only the write key counts.
type surroundings struct {
	writeKey     string
	sentAt       []byte // stable JSON; empty when absent
	context      member.Shared
	integrations member.Shared
}

func (s *surroundings) reset() {
	s.writeKey, s.sentAt = "", s.sentAt[:0]
	s.context.Reset()
	s.integrations.Reset()
}

// Parse reads body: one call of the type that its path has, or a batch, whose
// path has none (protocol, 4). It may write over a part of body and keeps nothing
// of it.
//
// The error is a *schemas.Violation with CodeInvalidJSON or CodeTooLarge: the body
// is not one JSON text of at most schemas.MaxDepth levels. What is JSON but no call
// is left to Accept, which runs when the key is known. Of a batch, a call that is
// nested too deep is left to it as well.
func (d *Decoder) Parse(body []byte, path schemas.Type) error {
	d.path, d.size = path, len(body)
	err := d.walk(body)
	if d.isBatch() && errors.Is(err, stablejson.ErrTooDeep) {
		err = d.parseDeep(body, err)
	}
	if err != nil {
		return syntaxViolation(err)
	}
	return nil
}

func syntaxViolation(err error) *schemas.Violation {
	if errors.Is(err, stablejson.ErrTooDeep) {
		return &schemas.Violation{Code: schemas.CodeTooLarge, Message: err.Error()}
	}
	return &schemas.Violation{Code: schemas.CodeInvalidJSON, Message: "the body is not JSON: " + err.Error()}
}

func (d *Decoder) isBatch() bool { return d.path == "" }

// walk is one pass over body.
func (d *Decoder) walk(body []byte) error {
	d.reader.Reset(body)
	d.body = body
	d.calls = d.calls[:0]
	d.batch.reset()
	d.fault = faultNone
	var err error
	if d.isBatch() {
		err = d.parseBatch()
	} else {
		err = d.parseSingle(len(body))
	}
	if err != nil {
		return err
	}
	return d.reader.End()
}

func (d *Decoder) parseSingle(bytes int) error {
	c := d.next()
	if err := d.parseCall(c); err != nil {
		return err
	}
	c.bytes = bytes
	d.batch.writeKey, _ = stablejson.Text(c.members.Get(keyWriteKey))
	return nil
}

func (d *Decoder) parseBatch() error {
	if d.reader.Kind() != stablejson.KindObject {
		d.fault = faultNoObject
		return d.reader.Skip()
	}
	d.fault = faultNoArray
	return d.reader.Members(func(key []byte) error {
		switch string(key) {
		case "batch":
			return d.parseCalls()
		case keyWriteKey:
			return d.parseWriteKey()
		case keySentAt:
			return d.parseSentAt()
		case keyContext:
			return d.batch.context.Parse(&d.reader)
		case keyIntegrations:
			return d.batch.integrations.Parse(&d.reader)
		default:
			return d.reader.Skip()
		}
	})
}

// parseCalls reads the array of calls. Of two such arrays the last counts, as
// of all duplicate keys. Calls beyond the limit are only passed over: the answer
// is settled, but the key may stand behind them.
func (d *Decoder) parseCalls() error {
	d.calls, d.fault = d.calls[:0], faultNone
	if d.reader.Kind() != stablejson.KindArray {
		d.fault = faultNoArray
		return d.reader.Skip()
	}
	return d.reader.Elements(func() error {
		if len(d.calls) == schemas.MaxBatchEvents {
			d.fault = faultTooMany
			return d.reader.Skip()
		}
		return d.parseCall(d.next())
	})
}

// next returns the memory for one more call.
func (d *Decoder) next() *call {
	n := len(d.calls)
	if n < cap(d.calls) {
		d.calls = d.calls[:n+1]
	} else {
		d.calls = append(d.calls, call{})
	}
	return &d.calls[n]
}

func (d *Decoder) parseCall(c *call) error {
	c.object = d.reader.Kind() == stablejson.KindObject
	c.from, c.deep, c.refused = d.reader.Offset(), false, nil
	var err error
	// A call that is too long is refused whatever is in it. Without this, one of
	// fifty thousand keys would cost as much as two thousand good calls.
	d.reader.Discard(c.from + schemas.MaxCallBytes)
	defer d.reader.Discard(len(d.body))
	if c.object {
		err = d.reader.Object(&c.members)
	} else {
		c.members.Reset()
		err = d.reader.Skip()
	}
	c.bytes = d.reader.Offset() - c.from
	if err == nil && c.object {
		c.keepDigits(d.body[c.from : c.from+c.bytes])
	}
	return err
}

func (d *Decoder) parseWriteKey() error {
	value, err := d.reader.Append(nil)
	d.batch.writeKey, _ = stablejson.Text(value)
	return err
}

func (d *Decoder) parseSentAt() (err error) {
	d.batch.sentAt, err = d.reader.Append(d.batch.sentAt[:0])
	return err
}
