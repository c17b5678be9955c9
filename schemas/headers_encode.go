package schemas

import (
	"iter"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// All encodes h: one pair per field that is not zero, always in the same order.
// The values are copies that alias nothing of h and may be kept; a whole
// iteration normally costs one allocation, of their size.
//
// It never fails. Detail is cut to [MaxDetailBytes] at the start of a rune. To
// keep every other field within its bound is the caller's part: beyond it,
// [ParseHeaders] refuses the result. Times are truncated to milliseconds.
func (h *Headers) All() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		e := encoder{buf: make([]byte, 0, h.encodedBytes())}
		e.call(h)
		e.delivery(h)
		e.deadLetter(h)
		start := 0
		for _, f := range e.fields[:e.count] {
			// Clipped: an append by whoever keeps the value must not run into the next.
			if !yield(f.key, e.buf[start:f.end:f.end]) {
				return
			}
			start = f.end
		}
	}
}

// encodedBytes is the size of all values, so that one buffer holds them. It may
// fall short for the numbers of a record that never had a destination (rare:
// given up before routing); the buffer then grows.
func (h *Headers) encodedBytes() int {
	n := len(h.Source) + len(h.Type) + len(h.MessageID) + len(h.Integrations) + len(h.Origin) + len(h.TraceParent) + len(h.Run)
	for _, t := range [...]time.Time{h.Received, h.Happened} {
		if !t.IsZero() {
			n += timeDigits + 2 // before 1970 there is a sign, and up to two digits more
		}
	}
	if h.Only != nil {
		n += len(nobody)
	}
	for _, id := range h.Only {
		n += len(id) + 1
	}
	if h.Destination != "" {
		const numbers = 3*timeDigits + 2*10 + 10 + 19 + 2*4 // times, attempts, partition, offset, "true"
		n += numbers + len(h.Destination) + len(h.Reason) + min(len(h.Detail), MaxDetailBytes) +
			len(h.Endpoints)*(endpointDigits+1) + len(h.From.Topic) + min(len(h.Answer), MaxAnswerBytes)
	}
	return n
}

// nobody stands for a Headers.Only without an id: an empty value is no header.
const nobody = "-"

// timeDigits is the length of a time of our days.
const timeDigits = 13

// encoder appends all values to one buffer and notes where each ends. It holds
// no yield function: one kept in a struct would put every caller's loop body,
// and what that captures, on the heap.
type encoder struct {
	buf    []byte
	fields [headerCount]encodedField
	count  int
}

type encodedField struct {
	key string
	end int // of the value in buf; it starts where the field before ends
}

func (e *encoder) call(h *Headers) {
	if h.Version > 1 {
		e.number(keyVersion, int64(h.Version))
	}
	e.text(keySource, h.Source)
	e.text(keyType, string(h.Type))
	e.text(keyMessageID, h.MessageID)
	if len(h.Integrations) > 0 {
		e.add(keyIntegrations, append(e.buf, h.Integrations...))
	}
	e.text(keyOrigin, string(h.Origin))
	if h.Only != nil && len(h.Only) == 0 {
		e.text(keyOnly, nobody)
	}
	e.text(keyOnly, strings.Join(h.Only, ","))
	e.instant(keyHappened, h.Happened)
	e.instant(keyReceived, h.Received)
	e.text(keyTraceParent, h.TraceParent)
	e.text(keyRun, h.Run)
}

func (e *encoder) delivery(h *Headers) {
	e.text(keyDestination, h.Destination)
	if h.Attempt != 0 {
		e.number(keyAttempt, int64(h.Attempt))
	}
	if h.Withheld != 0 {
		e.number(keyWithheld, int64(h.Withheld))
	}
	e.instant(keyFirstAttempt, h.FirstAttempt)
	e.instant(keyDue, h.Due)
	if h.Reserved {
		e.text(keyReserved, "true")
	}
	if ms := h.Paused.Milliseconds(); ms > 0 {
		e.number(keyPaused, ms)
	}
	e.text(keyReason, string(h.Reason))
	e.text(keyDetail, cut(h.Detail, MaxDetailBytes))
	if len(h.Answer) > 0 {
		e.text(keyAnswer, escapeAnswer(h.Answer))
	}
	if len(h.Endpoints) > 0 {
		e.add(keyEndpoints, appendEndpoints(e.buf, h.Endpoints))
	}
}

func (e *encoder) deadLetter(h *Headers) {
	// All three parts or none: partition 0 and offset 0 are places.
	if h.From.Topic != "" {
		e.text(keyFromTopic, h.From.Topic)
		e.number(keyFromPartition, int64(h.From.Partition))
		e.number(keyFromOffset, h.From.Offset)
	}
	if h.Reference {
		e.text(keyReference, "true")
	}
	e.instant(keyFailedAt, h.FailedAt)
}

func (e *encoder) text(key, value string) {
	if value != "" {
		e.add(key, append(e.buf, value...))
	}
}

func (e *encoder) number(key string, n int64) {
	e.add(key, strconv.AppendInt(e.buf, n, 10))
}

func (e *encoder) instant(key string, t time.Time) {
	if !t.IsZero() {
		e.number(key, t.UnixMilli())
	}
}

// add takes the buffer with the value of key appended.
func (e *encoder) add(key string, grown []byte) {
	e.buf = grown
	e.fields[e.count] = encodedField{key: key, end: len(grown)}
	e.count++
}

const endpointDigits = 16

func appendEndpoints(dst []byte, endpoints []uint64) []byte {
	for i, endpoint := range endpoints {
		if i > 0 {
			dst = append(dst, ',')
		}
		for shift := 60; shift >= 0; shift -= 4 {
			dst = append(dst, "0123456789abcdef"[endpoint>>shift&0xf])
		}
	}
	return dst
}

// cut returns at most limit bytes of s without splitting a rune.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit
	// No rune has more than three bytes behind its first: in text that is no
	// UTF-8 the search must end, or it would eat a run of such bytes whole.
	for end > limit-utf8.UTFMax+1 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
