package schemas

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ParseHeaders decodes what [Headers.All] encodes. Unknown keys are ignored,
// the last of several equal keys wins. A value that is empty, malformed or
// beyond its bound is an error that names the header, what was found and what
// was expected. Integrations aliases its value; all else is copied. Times come
// back in UTC.
//
// Of a record of a version beyond [RecordVersion] the error is a [*VersionError],
// wherever among the headers its version stands and whatever else is wrong with
// them.
//
// Beside an error come the headers that could be read, for those who have to say
// which record it is about; From may be incomplete then.
func ParseHeaders(all iter.Seq2[string, []byte]) (Headers, error) {
	// No range statement: without one this function is inlined, the compiler sees
	// through the caller's sequence, and the decoder stays on the stack.
	var d decoder
	all(d.next)
	return d.end()
}

// decoder remembers, beside the headers, the first error and which parts of
// From were seen: zero is a partition and an offset.
type decoder struct {
	Headers
	from uint8
	err  error
}

// next takes one header. It never ends the sequence: the version may come last,
// and what can be read is worth having.
func (d *decoder) next(key string, value []byte) bool {
	if err := d.call(key, value); err != nil {
		d.fail(key, value, err)
	}
	return true
}

// fail keeps the first error, unless one says that the others need not be any.
func (d *decoder) fail(key string, value []byte, err error) {
	switch {
	case IsLaterVersion(err):
		d.err = err
	case d.err == nil:
		d.err = fmt.Errorf("header %s: found %s, %w", key, excerpt(value), err)
	}
}

// end is the result. It must stay as cheap as it is, or ParseHeaders is no longer
// inlined; the benchmark's allocations tell.
func (d *decoder) end() (Headers, error) {
	if d.err == nil && d.from != 0 && d.from != fromComplete {
		d.err = errors.New("headers " + keyFromTopic + ", " + keyFromPartition + ", " + keyFromOffset +
			": found some, expected all or none")
	}
	return d.Headers, d.err
}

const (
	fromTopic uint8 = 1 << iota
	fromPartition
	fromOffset
	fromComplete = fromTopic | fromPartition | fromOffset
)

// call decodes what every event carries and passes other keys on.
func (d *decoder) call(key string, value []byte) error {
	switch key {
	case keySource:
		return decodeID(&d.Source, value)
	case keyType:
		return decodeWord(&d.Type, value, types())
	case keyMessageID:
		return decodeMessageID(&d.MessageID, value)
	case keyIntegrations:
		return decodeIntegrations(&d.Integrations, value)
	case keyOrigin:
		return decodeWord(&d.Origin, value, origins())
	case keyOnly:
		return decodeIDs(&d.Only, value)
	case keyHappened:
		return decodePast(&d.Happened, value)
	case keyReceived:
		return decodeTime(&d.Received, value)
	case keyTraceParent:
		decodeTraceParent(&d.TraceParent, value)
		return nil
	case keyRun:
		return decodeID(&d.Run, value)
	case keyVersion:
		return decodeVersion(&d.Version, value)
	default:
		return d.delivery(key, value)
	}
}

// delivery decodes what a retried or dead record carries of its attempts.
func (d *decoder) delivery(key string, value []byte) error {
	switch key {
	case keyDestination:
		return decodeID(&d.Destination, value)
	case keyAttempt:
		return decodeNumber(&d.Attempt, value, MaxAttempts)
	case keyWithheld:
		return decodeNumber(&d.Withheld, value, MaxAttempts)
	case keyFirstAttempt:
		return decodeTime(&d.FirstAttempt, value)
	case keyDue:
		return decodeTime(&d.Due, value)
	case keyReserved:
		return decodeTrue(&d.Reserved, value)
	case keyPaused:
		return decodeMillis(&d.Paused, value)
	case keyReason:
		return decodeReason(&d.Reason, value)
	case keyDetail:
		return decodeText(&d.Detail, value, MaxDetailBytes)
	case keyAnswer:
		decodeAnswer(&d.Answer, value)
		return nil
	case keyEndpoints:
		return decodeEndpoints(&d.Endpoints, value)
	default:
		return d.deadLetter(key, value)
	}
}

// deadLetter decodes what only a dead record carries.
func (d *decoder) deadLetter(key string, value []byte) error {
	switch key {
	case keyFromTopic:
		d.from |= fromTopic
		return decodeText(&d.From.Topic, value, MaxTopicBytes)
	case keyFromPartition:
		d.from |= fromPartition
		return decodeNumber(&d.From.Partition, value, math.MaxInt32)
	case keyFromOffset:
		d.from |= fromOffset
		return decodeNumber(&d.From.Offset, value, math.MaxInt64)
	case keyReference:
		return decodeTrue(&d.Reference, value)
	case keyFailedAt:
		return decodeTime(&d.FailedAt, value)
	default:
		return nil // of a later version, or of a tool in between
	}
}

func decodeID(dst *string, value []byte) error {
	if len(value) > MaxIDBytes || !ValidID(string(value)) {
		return expected("1 to %d lower-case letters, digits and hyphens", MaxIDBytes)
	}
	*dst = string(value)
	return nil
}

func decodeIDs(dst *[]string, value []byte) error {
	if string(value) == nobody {
		*dst = []string{}
		return nil
	}
	const longest = MaxOnly * (MaxIDBytes + 1) // a huge value is not even split
	if len(value) > longest || bytes.Count(value, []byte(",")) >= MaxOnly {
		return expectedIDs()
	}
	ids := strings.Split(string(value), ",")
	for _, id := range ids {
		if !ValidID(id) {
			return expectedIDs()
		}
	}
	*dst = ids
	return nil
}

func expectedIDs() error {
	return expected("1 to %d ids of lower-case letters, digits and hyphens, separated by commas", MaxOnly)
}

func decodeWord[T ~string](dst *T, value []byte, set []T) error {
	word, ok := oneOf(value, set)
	if !ok {
		return expected("one of %v", slices.Clone(set)) // a clone, or set would be on the heap each time
	}
	*dst = word
	return nil
}

// decodeReason takes words that this release does not know: one of a later
// release may have written the record, and the reason of the last failure decides
// nothing about the next attempt.
func decodeReason(dst *Reason, value []byte) error {
	if word, ok := oneOf(value, Reasons()); ok {
		*dst = word
		return nil
	}
	if len(value) == 0 || len(value) > maxReasonBytes || !isReasonWord(value) {
		return expected("1 to %d lower-case letters, digits and underscores", maxReasonBytes)
	}
	*dst = Reason(value)
	return nil
}

func isReasonWord(value []byte) bool {
	for _, c := range value {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// decodeVersion leaves the first version at zero, as if it were not there. Of
// several the latest counts: it is the one that not everybody understands.
func decodeVersion(dst *int, value []byte) error {
	var version int
	if err := decodeNumber(&version, value, maxVersion); err != nil || version == 0 {
		return expected("a decimal number from 1 to %d", maxVersion)
	}
	if version > 1 {
		*dst = max(*dst, version)
	}
	if version > RecordVersion {
		return &VersionError{Version: version}
	}
	return nil
}

// decodeTraceParent passes over what is no trace context: a trace that ends here
// is no reason not to deliver.
func decodeTraceParent(dst *string, value []byte) {
	if ValidTraceParent(value) {
		*dst = string(value)
	}
}

func decodeText(dst *string, value []byte, limit int) error {
	if len(value) == 0 || len(value) > limit {
		return expected("1 to %d bytes", limit)
	}
	*dst = string(value)
	return nil
}

func decodeMessageID(dst *string, value []byte) error {
	// Bytes first: counting the characters of a huge value takes time in its size.
	if len(value) == 0 || len(value) > MaxMessageIDChars*utf8.UTFMax || utf8.RuneCount(value) > MaxMessageIDChars {
		return expected("1 to %d characters", MaxMessageIDChars)
	}
	*dst = string(value)
	return nil
}

// decodeIntegrations looks at the braces alone: who uses the map reads it.
func decodeIntegrations(dst *[]byte, value []byte) error {
	n := len(value)
	if n < 2 || n > MaxIntegrationsBytes || value[0] != '{' || value[n-1] != '}' {
		return expected("a JSON object of at most %d bytes", MaxIntegrationsBytes)
	}
	*dst = value
	return nil
}

func decodeNumber[T int | int32 | int64](dst *T, value []byte, limit int64) error {
	const maxDigits = 19 // of an int64
	if len(value) <= maxDigits {
		if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && n >= 0 && n <= limit {
			*dst = T(n)
			return nil
		}
	}
	return expected("a decimal number from 0 to %d", limit)
}

func decodeTime(dst *time.Time, value []byte) error {
	var millis int64
	if err := decodeNumber(&millis, value, maxTimeMillis); err != nil {
		return fmt.Errorf("%w, Unix milliseconds", err)
	}
	*dst = time.UnixMilli(millis).UTC()
	return nil
}

func decodeMillis(dst *time.Duration, value []byte) error {
	var millis int64
	if err := decodeNumber(&millis, value, maxPausedMillis); err != nil {
		return fmt.Errorf("%w, milliseconds", err)
	}
	*dst = time.Duration(millis) * time.Millisecond
	return nil
}

// decodePast reads a time that may be before 1970: a birthday is an event too.
func decodePast(dst *time.Time, value []byte) error {
	digits, before := bytes.CutPrefix(value, []byte("-"))
	var millis int64
	if err := decodeNumber(&millis, digits, maxTimeMillis); err != nil {
		return expected("a decimal number from -%d to %d, Unix milliseconds", maxTimeMillis, maxTimeMillis)
	}
	if before {
		millis = -millis
	}
	*dst = time.UnixMilli(millis).UTC()
	return nil
}

func decodeTrue(dst *bool, value []byte) error {
	if string(value) != "true" {
		return expected("true")
	}
	*dst = true
	return nil
}

func decodeEndpoints(dst *[]uint64, value []byte) error {
	const width = endpointDigits + 1 // a fingerprint and the comma behind it
	count := (len(value) + 1) / width
	if count < 1 || count > MaxEndpoints || (len(value)+1)%width != 0 {
		return expectedEndpoints()
	}
	endpoints := make([]uint64, count)
	for i := range endpoints {
		part := value[i*width:]
		n, err := strconv.ParseUint(string(part[:endpointDigits]), 16, 64)
		if err != nil || len(part) > endpointDigits && part[endpointDigits] != ',' {
			return expectedEndpoints()
		}
		endpoints[i] = n
	}
	*dst = endpoints
	return nil
}

func expectedEndpoints() error {
	return expected("1 to %d fingerprints of %d hexadecimal digits, separated by commas", MaxEndpoints, endpointDigits)
}

func expected(format string, args ...any) error {
	return fmt.Errorf("expected "+format, args...)
}

// excerpt quotes a value for an error, short however long the value is.
func excerpt(value []byte) string {
	const limit = 48
	if len(value) > limit {
		return fmt.Sprintf("%q… (%d bytes)", value[:limit], len(value))
	}
	return strconv.Quote(string(value))
}
