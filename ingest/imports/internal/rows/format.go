package rows

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// Format says how files hold calls.
type Format string

// The formats of files.
const (
	NDJSON  Format = "ndjson"  // a call in each line
	Segment Format = "segment" // Segment's archive in S3: the same, with members of its own
	Rudder  Format = "rudder"  // RudderStack's archives: events, or jobs that hold one or a batch of them
	CSV     Format = "csv"     // separated values, with a mapping
	Archive Format = "archive" // our own: events as they were in the log
)

// Formats returns all formats.
func Formats() []Format { return []Format{NDJSON, Archive, Segment, Rudder, CSV} }

// Drop returns the members that the archive has added to each call.
func (f Format) Drop() []string {
	if f == Segment {
		return []string{"_metadata", "projectId", "version"}
	}
	return nil
}

// Row is one call as it stands in a file.
type Row struct {
	Number int64 // from 1, over all files
	File   string
	Line   int    // at which it begins, from 1
	Text   []byte // as it stands there; of one that is too long, the beginning
	Call   []byte // its JSON; may be Text
	// Problem is why no call could be made of it; empty for a row with one.
	Problem string
}

// hand hands a row out.
func (r *Row) hand(text, call []byte, problem string, each func(*Row) error) error {
	if problem == "" {
		if problem = notUTF8(text); problem != "" {
			call = nil
		}
	}
	r.Number++
	r.Text, r.Call, r.Problem = text, call, problem
	return each(r)
}

// notUTF8 says where a text is none in UTF-8; empty for one that is. Of JSON and CSV in
// another encoding, names would become others without a word.
func notUTF8(text []byte) string {
	if utf8.Valid(text) {
		return ""
	}
	const shown = 20
	at := 0
	for {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Sprintf("found the byte 0x%02x behind %q, expected UTF-8", text[at], bytes.ToValidUTF8(text[max(0, at-shown):at], nil))
		}
		at += size
	}
}

func (f *Files) rows(in *lines, row *Row, each func(*Row) error) error {
	var err error
	if f.Format == CSV {
		err = f.mapped.rows(in, row, each)
	} else {
		err = f.jsonRows(in, row, each)
	}
	if errors.Is(err, errRead) {
		return fmt.Errorf("%s: %w", row.File, err)
	}
	return err
}

// errRead marks an error of the file, as opposed to one of who takes its rows.
var errRead = errors.New("the file can't be read to its end")

// ended is nil at the end of a file.
func ended(err error) error {
	if err == io.EOF { //nolint:errorlint // an unexpected end is none
		return nil
	}
	return fmt.Errorf("%w: %w", errRead, err)
}

func (f *Files) jsonRows(in *lines, row *Row, each func(*Row) error) error {
	for {
		text, err := in.next()
		if err != nil {
			return ended(err)
		}
		row.Line = in.line
		switch {
		case len(bytes.TrimSpace(text)) == 0:
			continue
		case in.cut:
			err = row.hand(text[:shownOfLong], nil, tooLong, each)
		case f.Format == Rudder:
			err = rudderRows(text, row, each)
		default:
			err = row.hand(text, text, "", each)
		}
		if err != nil {
			return err
		}
	}
}

// shownOfLong is how many bytes of a line that is too long are kept.
const shownOfLong = 1 << 10

var tooLong = fmt.Sprintf("expected at most %d bytes", maxLine)

// rudderRows hands out the events in one line: itself, or what the envelope of a job
// holds, one event or a batch of them.
func rudderRows(text []byte, row *Row, each func(*Row) error) error {
	payload, batch := opened(text)
	if payload != nil {
		text = payload
		_, batch = opened(text)
	}
	if batch == nil {
		return row.hand(text, text, "", each)
	}
	var r stablejson.Reader
	r.Reset(batch)
	return r.Elements(func() error {
		// Kind goes to where the element begins.
		r.Kind()
		from := r.Offset()
		if err := r.Skip(); err != nil {
			return err
		}
		element := batch[from:r.Offset()]
		return row.hand(element, element, "", each)
	})
}

// envelopes are the members under which jobs hold what was sent: in archives, and in
// dumps of the jobs' tables.
var envelopes = map[string]bool{"payload": true, "event_payload": true, "EventPayload": true, "eventPayload": true}

// opened returns what the envelope of a job holds and, of what holds a batch, its array;
// nil for what is no such thing, or no JSON: that is for others to judge.
func opened(text []byte) (payload, batch []byte) {
	var r stablejson.Reader
	r.Reset(text)
	if r.Kind() != stablejson.KindObject {
		return nil, nil
	}
	typed := false
	err := r.Members(func(key []byte) error {
		name, kind := string(key), r.Kind()
		from := r.Offset()
		if err := r.Skip(); err != nil {
			return err
		}
		switch {
		case name == "type":
			typed = true
		case envelopes[name] && kind == stablejson.KindObject:
			payload = text[from:r.Offset()]
		case name == "batch" && kind == stablejson.KindArray:
			batch = text[from:r.Offset()]
		}
		return nil
	})
	if err != nil || typed || r.End() != nil {
		return nil, nil
	}
	return payload, batch
}
