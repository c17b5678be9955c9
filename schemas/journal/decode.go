package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/anabranch/anabranch/schemas"
)

// Decode reads a record of the topic journal, and checks all of it. The record keeps to
// the bytes of the value. The error says what is wrong with it; one of a later release is a
// [*VersionError].
func Decode(key, value []byte) (*Record, error) {
	r := new(Record)
	err := r.parseKey(key)
	if err == nil {
		err = r.parse(value)
	}
	if err != nil {
		return nil, fmt.Errorf("decode a record of the journal: %w", err)
	}
	return r, nil
}

// VersionError says that a record is of a version that this release does not understand.
type VersionError struct{ Version int }

// Error names the version, and the one that is understood.
func (e *VersionError) Error() string {
	return fmt.Sprintf("version %d: expected at most %d, a later release wrote it", e.Version, Version)
}

// reader takes values off some bytes. After the first that is not there it returns zeros.
type reader struct {
	left []byte
	err  error
}

func (d *reader) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.left = nil
}

func (d *reader) bytes(n int) []byte {
	if n > len(d.left) {
		d.fail(errCut)
		return nil
	}
	b := d.left[:n:n]
	d.left = d.left[n:]
	return b
}

func (d *reader) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// number is one of at most most.
func (d *reader) number(of string, most uint64) uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.left)
	switch {
	case n == 0:
		d.fail(errCut)
	case n < 0 || v > most:
		d.fail(fmt.Errorf("%s: expected at most %d", of, most))
	default:
		d.left = d.left[n:]
		return v
	}
	return 0
}

// count is a number of things that take so many bytes each at least.
func (d *reader) count(of string, each int) int {
	n := d.number(of, math.MaxInt32)
	if n > uint64(len(d.left)/each) {
		d.fail(fmt.Errorf("%d %s in %d bytes: %w", n, of, len(d.left), errCut))
		return 0
	}
	return int(n)
}

// signed is a difference that leads from a number to another one of low to high.
func (d *reader) signed(of string, from, low, high int64) int64 {
	if d.err != nil {
		return from
	}
	v, n := binary.Varint(d.left)
	switch {
	case n == 0:
		d.fail(errCut)
	case n < 0 || v < low-from || v > high-from:
		d.fail(fmt.Errorf("%s: expected %d to %d", of, low, high))
	default:
		d.left = d.left[n:]
		return from + v
	}
	return from
}

// oneOf is a byte from 1 to most.
func (d *reader) oneOf(of string, most int) uint8 {
	b := d.byte()
	if d.err == nil && (b == 0 || int(b) > most) {
		d.fail(fmt.Errorf("%s %d: expected 1 to %d", of, b, most))
	}
	return b
}

func (r *Record) parse(value []byte) error {
	if len(value) == 0 {
		return errors.New("value is empty")
	}
	version := value[0]
	if version != withoutRuns && version != Version {
		return &VersionError{int(version)}
	}
	d := &reader{left: value[1:]}
	r.kind = kind(d.byte())
	if id := d.bytes(4); id != nil {
		r.KeyID = binary.BigEndian.Uint32(id)
	}
	r.Base = time.UnixMilli(int64(d.number("time", maxMillis))).UTC()
	r.From = int64(d.number("first offset", math.MaxInt64))
	r.Next = r.From + int64(d.number("offsets", uint64(math.MaxInt64-r.From)))
	r.Lost = int(d.number("entries lost", math.MaxInt64))
	r.parseTexts(d)
	switch {
	case d.err != nil:
		return d.err
	case r.kind == calls && version != withoutRuns:
		return &VersionError{int(version)}
	case r.kind == calls:
		r.parseCalls(d)
	case r.kind == attempts:
		r.parseAttempts(d, version)
	default:
		return fmt.Errorf("kind %q: expected %q or %q", byte(r.kind), byte(calls), byte(attempts))
	}
	if d.err == nil && len(d.left) > 0 {
		return fmt.Errorf("%d bytes follow its end", len(d.left))
	}
	return d.err
}

func (r *Record) parseTexts(d *reader) {
	n := d.count("texts", 2)
	r.texts = make([]string, 1, n+1)
	for range n {
		text := d.bytes(int(d.number("length of a text", MaxTextBytes)))
		if d.err == nil && (len(text) == 0 || !utf8.Valid(text)) {
			d.fail(fmt.Errorf("text %q: expected UTF-8", text))
		}
		r.texts = append(r.texts, string(text))
	}
}

func (r *Record) text(d *reader) string {
	return r.texts[d.number("number of a text", uint64(len(r.texts)-1))]
}

func (r *Record) parseCalls(d *reader) {
	n := d.count("verdicts", 4)
	r.verdicts = make([]verdict, n)
	for i := range r.verdicts {
		v := &r.verdicts[i]
		v.source = r.text(d)
		v.result = CallResult(d.oneOf("result of a call", len(callResults)-1))
		v.reason = schemas.Reason(r.text(d))
		if n := d.count("decisions", 3); n > 0 {
			v.decisions = make([]Decision, n)
		}
		for j := range v.decisions {
			v.decisions[j] = Decision{Destination: r.text(d), Result: DecisionResult(d.oneOf("result of a decision", len(decisionResults)-1)), Why: r.text(d)}
		}
	}
	r.count = d.count("calls", 8)
	r.offsets = r.checkOffsets(d)
	r.runs = r.checkRuns(d)
	if d.err == nil && len(d.left) > 8*r.count {
		d.fail(fmt.Errorf("%d bytes follow its end", len(d.left)-8*r.count))
	}
	r.prints = d.bytes(8 * r.count)
}

// checkOffsets returns the bytes of the runs of offsets.
func (r *Record) checkOffsets(d *reader) []byte {
	all, at := d.left, r.From
	for left := uint64(r.count); left > 0 && d.err == nil; {
		at += int64(d.number("gap of offsets", uint64(r.Next-at)))
		n := d.number("calls that follow on one another", min(left, uint64(r.Next-at)))
		if n == 0 {
			d.fail(errNone)
		}
		at += int64(n)
		left -= n
	}
	return all[:len(all)-len(d.left)]
}

// checkRuns returns the bytes of the runs of verdicts.
func (r *Record) checkRuns(d *reader) []byte {
	all := d.left
	for left := uint64(r.count); left > 0 && d.err == nil; {
		if d.number("number of a verdict", math.MaxInt32) >= uint64(len(r.verdicts)) {
			d.fail(fmt.Errorf("number of a verdict: expected less than %d", len(r.verdicts)))
		}
		n := d.number("calls of one verdict", left)
		if n == 0 {
			d.fail(errNone)
		}
		left -= n
	}
	return all[:len(all)-len(d.left)]
}

// errNone is said of a run of nothing, which would not come to an end.
var errNone = errors.New("a run of no calls")

func (r *Record) parseAttempts(d *reader, version byte) {
	r.shapes = make([]shape, d.count("shapes", 8))
	for i := range r.shapes {
		r.shapes[i] = shape{
			destination: r.text(d), source: r.text(d),
			outcome: Outcome(d.oneOf("outcome", len(outcomes)-1)),
			reason:  schemas.Reason(r.text(d)), topic: r.text(d), endpoints: d.byte(),
			number:   int(d.number("attempts made", schemas.MaxAttempts)),
			withheld: int(d.number("attempts withheld", schemas.MaxAttempts)),
		}
		if version > withoutRuns {
			r.shapes[i].run = r.text(d)
		}
	}
	r.count = d.count("attempts", 12)
	r.entries = d.left
	c := cursor{reader: d}
	c.begin(r)
	for range r.count {
		if c.next(r); d.err != nil {
			return
		}
	}
}

// cursor walks through attempts.
type cursor struct {
	*reader

	offset, at int64
}

func (c *cursor) begin(r *Record) {
	if r.count == 0 {
		return
	}
	c.offset = r.From + int64(c.number("first offset", uint64(r.Next-r.From)))
	c.at = int64(c.number("first time", maxMillis))
}

// next is the next attempt. It is whole unless there is an error.
func (c *cursor) next(r *Record) (a Attempt) {
	c.offset = c.signed("offset", c.offset, r.From, r.Next-1)
	n := c.number("number of a shape", math.MaxInt32)
	if n >= uint64(len(r.shapes)) {
		c.fail(fmt.Errorf("number of a shape: expected less than %d", len(r.shapes)))
		return a
	}
	of := &r.shapes[n]
	if b := c.bytes(8); b != nil {
		a.Fingerprint = binary.BigEndian.Uint64(b)
	}
	a.Took = time.Duration(c.number("time of an attempt", maxTook)) * time.Millisecond
	c.at = c.signed("time", c.at, 0, maxMillis)
	if of.outcome.Waits() {
		a.Until = time.UnixMilli(c.signed("due time", c.at, 0, maxMillis)).UTC()
	}
	a.Offset, a.At = c.offset, time.UnixMilli(c.at).UTC()
	a.Destination, a.Source, a.Outcome, a.Reason, a.Topic = of.destination, of.source, of.outcome, of.reason, of.topic
	a.Endpoints, a.Number, a.Withheld = of.endpoints, of.number, of.withheld
	a.Run = of.run
	return a
}
