package archived

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/objects"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// getTime bounds the getting of one object.
	getTime = 15 * time.Second
	// maxLine is far more than any event has.
	maxLine = 4 << 20
)

// Reader reads one partition of a log. It holds one object at a time, compressed, and
// belongs to one goroutine.
type Reader struct {
	log  *Log
	num  int32
	left []file // the first one is open, if text is not nil
	next int64  // offset of the next line
	skip int64  // offset of the first line that is wanted

	lines lines
	text  *bufio.Scanner
	line  int // of the object that is open, from 1
}

// Reader returns a reader of a partition, from an offset on.
func (l *Log) Reader(num int32, from int64, blocked Blocked) *Reader {
	r := &Reader{log: l, num: num, skip: from, lines: lines{blocked: blocked}}
	if p := l.parts[num]; p != nil {
		r.left = p.files
	}
	// All of a range, since the lines of its first objects count.
	for len(r.left) > 0 && r.left[0].end <= from {
		r.left = r.left[1:]
	}
	if len(r.left) > 0 {
		r.next = r.left[0].begin
	}
	return r
}

// Offset is that of what [Reader.Next] would return.
func (r *Reader) Offset() int64 { return max(r.next, r.skip) }

// Within reports whether the reader is in the midst of an object.
func (r *Reader) Within() bool { return r.text != nil }

// Next returns the next event that is meant, with its offset, its partition, and the name of
// its object for a topic. Nil: it looked at one that is not, or is at the end of an object.
// The error is [io.EOF] at the end of the partition.
func (r *Reader) Next(ctx context.Context) (*kgo.Record, error) {
	if len(r.left) == 0 {
		return nil, io.EOF
	}
	f := r.left[0]
	if r.text == nil {
		if err := r.open(ctx, f.String()); err != nil {
			return nil, err
		}
	}
	if !r.text.Scan() {
		return nil, r.close(f)
	}
	r.line++
	offset := r.next
	r.next++
	switch {
	case offset >= f.end:
		return nil, r.broken(f, fmt.Errorf("expected %d lines at most in the objects of the range", f.end-f.begin))
	case offset < r.skip:
		return nil, nil //nolint:nilnil // as Next says
	}
	rec, err := r.lines.record(f.Source, r.text.Bytes())
	if err != nil {
		return nil, r.broken(f, err)
	}
	if at := rec.Timestamp; !at.IsZero() && (at.Before(r.log.choice.From) || !at.Before(r.log.choice.To)) {
		return nil, nil //nolint:nilnil // as Next says
	}
	if rec.Timestamp.IsZero() { // nothing is known of it but its day
		rec.Timestamp = f.Day
	}
	rec.Topic, rec.Partition, rec.Offset = f.String(), r.num, offset
	return rec, nil
}

// broken is the error of a line that can't be read.
func (r *Reader) broken(f file, err error) error {
	return fmt.Errorf("%w: %s, line %d: %w", ErrChanged, f, r.line, err)
}

func (r *Reader) open(ctx context.Context, name string) error {
	body, err := r.log.get(ctx, name)
	if err != nil {
		return err
	}
	zip, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrChanged, name, err)
	}
	r.text, r.line = bufio.NewScanner(zip), 0
	r.text.Buffer(nil, maxLine)
	return nil
}

// close goes on to the next object, or says why this one can't be read to its end.
func (r *Reader) close(f file) error {
	if err := r.text.Err(); err != nil {
		r.line++
		return r.broken(f, err)
	}
	r.text, r.left = nil, r.left[1:]
	switch {
	case len(r.left) == 0:
		r.next = f.end
	case !sameRange(r.left[0].ArchivedName, f.ArchivedName):
		r.next = r.left[0].begin
	}
	return nil
}

// get returns an object that was there when the log was opened.
func (l *Log) get(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, getTime)
	defer cancel()
	body, there, err := l.store.Get(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrAway, name, err)
	}
	if there {
		return body, nil
	}
	if _, there, err = objects.OwnerOf(ctx, l.store); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAway, err)
	}
	if there {
		return nil, fmt.Errorf("%w: %s is not there any more", ErrChanged, name)
	}
	return nil, fmt.Errorf("%w: %s is not there, and neither is %s", ErrAway, name, objects.ClaimName)
}

// Deletions hands over whose data was to be deleted since the beginning of the log, and
// when, as far as the archive says it: in no order, each user perhaps more than once. While
// is called before each object, and its error returned.
func (l *Log) Deletions(ctx context.Context, blocked Blocked, while func() error, each func(user []byte, at time.Time)) error {
	names := slices.Clone(l.others)
	for _, p := range l.parts {
		for _, f := range p.files {
			names = append(names, f.ArchivedName)
		}
	}
	for _, n := range names {
		if err := while(); err != nil {
			return err
		}
		if !schemas.ValidID(n.Source) {
			continue
		}
		r := &Reader{log: l, lines: lines{blocked: blocked}}
		if err := r.deletions(ctx, file{ArchivedName: n}, each); err != nil {
			return err
		}
	}
	return nil
}

// deletions reads one object for them.
func (r *Reader) deletions(ctx context.Context, f file, each func(user []byte, at time.Time)) error {
	if err := r.open(ctx, f.String()); err != nil {
		return err
	}
	for r.text.Scan() {
		r.line++
		if !bytes.Contains(r.text.Bytes(), []byte(`"type":"delete"`)) {
			continue
		}
		rec, err := r.lines.record(f.Source, r.text.Bytes())
		if err != nil {
			return r.broken(f, err)
		}
		if r.lines.text("type") == string(schemas.TypeDelete) {
			each(rec.Key, rec.Timestamp)
		}
	}
	if err := r.text.Err(); err != nil {
		r.line++
		return r.broken(f, err)
	}
	return nil
}
