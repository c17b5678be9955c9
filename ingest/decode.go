package ingest

import (
	"errors"
	"strconv"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// decoder takes the body of one request apart and writes its calls anew. It is
// used for many requests, one at a time, and keeps its memory between them.
//
// First parse walks the whole body, once: in a batch what concerns every call
// (context, sentAt, the write key) mostly stands behind the calls. Then accept
// judges and completes each call, and records hands over what was accepted.
type decoder struct {
	reader stablejson.Reader
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
	from    int  // where it begins in the body
	bytes   int  // its length there
	object  bool // otherwise members is empty
	deep    bool // a part was cut out of it, see parseDeep
}

// surroundings is what a batch says of all its calls. For a single call it is
// the call itself, of which only the write key counts.
type surroundings struct {
	writeKey     string
	sentAt       []byte // stable JSON; empty when absent
	context      sharedMap
	integrations sharedMap
}

func (s *surroundings) reset() {
	s.writeKey, s.sentAt = "", s.sentAt[:0]
	s.context.reset()
	s.integrations.reset()
}

// parse reads body. An error is an answer: the body is not JSON. What is JSON
// but no call is left to accept, which runs when the key is known.
func (d *decoder) parse(e endpoint, body []byte) error {
	err := d.walk(e, body)
	if e.batch() && errors.Is(err, stablejson.ErrTooDeep) {
		err = d.parseDeep(body, err)
	}
	if err != nil {
		return errSyntax(err)
	}
	return nil
}

// walk is one pass over body.
func (d *decoder) walk(e endpoint, body []byte) error {
	d.reader.Reset(body)
	d.calls = d.calls[:0]
	d.batch.reset()
	d.fault = faultNone
	var err error
	if e.batch() {
		err = d.parseBatch()
	} else {
		err = d.parseSingle(len(body))
	}
	if err != nil {
		return err
	}
	return d.reader.End()
}

func (d *decoder) parseSingle(bytes int) error {
	c := d.next()
	if err := d.parseCall(c); err != nil {
		return err
	}
	c.bytes = bytes
	d.batch.writeKey, _ = stablejson.Text(c.members.Get(keyWriteKey))
	return nil
}

func (d *decoder) parseBatch() error {
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
			return d.batch.context.parse(&d.reader)
		case keyIntegrations:
			return d.batch.integrations.parse(&d.reader)
		default:
			return d.reader.Skip()
		}
	})
}

// parseCalls reads the array of calls. Of two such arrays the last counts, as
// of all duplicate keys. Calls beyond the limit are only passed over: the answer
// is settled, but the key may stand behind them.
func (d *decoder) parseCalls() error {
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
func (d *decoder) next() *call {
	n := len(d.calls)
	if n < cap(d.calls) {
		d.calls = d.calls[:n+1]
	} else {
		d.calls = append(d.calls, call{})
	}
	return &d.calls[n]
}

func (d *decoder) parseCall(c *call) error {
	c.object = d.reader.Kind() == stablejson.KindObject
	c.from, c.deep = d.reader.Offset(), false
	var err error
	if c.object {
		err = d.reader.Object(&c.members)
	} else {
		c.members.Reset()
		err = d.reader.Skip()
	}
	c.bytes = d.reader.Offset() - c.from
	return err
}

func (d *decoder) parseWriteKey() error {
	value, err := d.reader.Append(nil)
	d.batch.writeKey, _ = stablejson.Text(value)
	return err
}

func (d *decoder) parseSentAt() (err error) {
	d.batch.sentAt, err = d.reader.Append(d.batch.sentAt[:0])
	return err
}

// accept judges every call and completes the good ones, which records then
// returns. The error is an answer to the request as a whole; a batch is good as
// long as one of its calls is.
func (d *decoder) accept(e endpoint, req *request) (rejected []refusal, err error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	req.batch = &d.batch
	d.press.reset()
	for i := range d.calls {
		c := &d.calls[i]
		violation := d.press.complete(c, req)
		if d.press.written > maxRequestBytes {
			return nil, errTooMuch()
		}
		if violation != nil {
			rejected = append(rejected, refusal{i, c.claimedID(), *violation})
		}
	}
	if len(d.press.entries) == 0 {
		return rejected, errRefused(e, rejected)
	}
	return rejected, nil
}

func (d *decoder) check() error {
	switch {
	case d.fault == faultNoObject:
		return invalid(schemas.CodeInvalidJSON, "the body is not a JSON object")
	case d.fault == faultTooMany:
		return invalid(schemas.CodeTooManyEvents, "the batch has more than "+strconv.Itoa(schemas.MaxBatchEvents)+" events")
	case d.fault == faultNoArray || len(d.calls) == 0:
		return invalid(schemas.CodeEmptyBatch, "the body has no events: expected an array of them under the key batch")
	default:
		return nil
	}
}
