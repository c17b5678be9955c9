// Package object makes objects of an archive from the records of a range: for each source
// and day of receipt one, gzip of a line per event, the bytes of the event as they stand in
// the topic.
//
// The same records make the same bytes: nothing of the time or the process goes into them.
// Another release may compress differently; then an object that is written again has the
// same lines in other bytes.
package object

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// Unreadable stands for the source of records whose headers say none: nobody but Anabranch
// writes to the topic, but what is there is archived. No source has such an id.
const Unreadable = "_unreadable"

// Dir is the directory of the object that a record goes to.
func Dir(r *kgo.Record) string {
	source, taken := origin(r)
	return schemas.ArchivedDir(source, taken)
}

func origin(r *kgo.Record) (source string, taken time.Time) {
	h, err := kafka.HeadersOf(r)
	if err != nil || !schemas.ValidID(h.Source) {
		return Unreadable, r.Timestamp
	}
	if h.Received.IsZero() {
		return h.Source, r.Timestamp
	}
	return h.Source, h.Received
}

// LineBytes is how long a record's line is.
func LineBytes(r *kgo.Record) int { return len(r.Value) + 1 }

// Object is one object, to be stored under its name.
type Object struct {
	Name  schemas.ArchivedName
	Body  []byte
	Lines int
	Bytes int // of the lines
}

// Builder takes the records of a range in their order. It is made by [New].
type Builder struct {
	partition int32
	from, to  int64
	open      map[string]*open
}

type open struct {
	Object

	body bytes.Buffer
	zip  *gzip.Writer
}

// New returns a builder for a range of a partition, to excluded.
func New(partition int32, from, to int64) *Builder {
	return &Builder{partition: partition, from: from, to: to, open: make(map[string]*open)}
}

// level is the compressor's: 60 MiB of events take a second, and become about 5.
const level = 6

// Add adds the line of a record.
func (b *Builder) Add(r *kgo.Record) error {
	source, taken := origin(r)
	dir := schemas.ArchivedDir(source, taken)
	o := b.open[dir]
	if o == nil {
		o = &open{Object: Object{Name: schemas.ArchivedName{
			Source: source, Day: taken.UTC().Truncate(24 * time.Hour), Partition: b.partition, From: b.from, To: b.to,
		}}}
		o.zip, _ = gzip.NewWriterLevel(&o.body, level) // the level is valid
		b.open[dir] = o
	}
	o.Lines++
	o.Bytes += LineBytes(r)
	if _, err := o.zip.Write(line(r.Value)); err != nil {
		return err
	}
	_, err := o.zip.Write([]byte{'\n'})
	return err
}

// line is an event as one line. Canonical JSON is one; a line end in what is not can only
// stand between its members.
func line(value []byte) []byte {
	if !bytes.ContainsAny(value, "\r\n") {
		return value
	}
	return bytes.Map(func(r rune) rune {
		if r == '\r' || r == '\n' {
			return ' '
		}
		return r
	}, value)
}

// Objects ends the range and returns its objects in the order of their names.
func (b *Builder) Objects() ([]Object, error) {
	all := make([]Object, 0, len(b.open))
	for _, dir := range slices.Sorted(maps.Keys(b.open)) {
		o := b.open[dir]
		if err := o.zip.Close(); err != nil {
			return nil, err
		}
		o.Body = o.body.Bytes()
		all = append(all, o.Object)
	}
	return all, nil
}
