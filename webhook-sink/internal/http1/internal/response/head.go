package response

import (
	"bytes"
	"math"
	"net/http"
	"time"
)

// Head is what a response head says that matters.
type Head struct {
	Status     int
	Length     int64 // of the body; Unknown when it says nothing, or when the body comes in chunks
	Chunked    bool
	Close      bool          // the connection ends with the response
	Idle       time.Duration // how long the connection may rest; not positive: not at all
	RetryAfter string
}

const (
	// Unknown is a Length.
	Unknown = -1
	// MaxIdle is the Idle of a response that says nothing: more than anybody keeps a
	// connection for.
	MaxIdle = time.Hour
)

// parse reads one head with its empty line. It accepts what net/http does, which
// is lenient about line ends and folded lines, with these exceptions: versions other
// than HTTP/1.x, three characters that are no status, a length beside chunks, and
// folded lines in the fields that are of interest here are malformed.
func parse(raw []byte) (Head, error) {
	line, rest := cutLine(raw)
	p := parser{Head: Head{Length: Unknown, Idle: MaxIdle}}
	if !p.statusLine(line) {
		return Head{}, errStatusLine
	}
	for {
		line, rest = cutLine(rest)
		if len(line) == 0 {
			return p.finish()
		}
		if err := p.line(line); err != nil {
			return Head{}, err
		}
	}
}

// parser is the state of reading one head.
type parser struct {
	Head
	old       bool   // HTTP/1.0
	keepAlive bool   // a Connection field asked for it
	field     field  // of the line before
	lengths   []byte // the first Content-Length, as it came; nil: none yet
	encoded   bool   // a Transfer-Encoding came
	waits     bool   // a Retry-After came
}

// statusLine reads "HTTP/1.1 200 OK". There may be more spaces before the status,
// and no reason after it.
func (p *parser) statusLine(line []byte) bool {
	const version = "HTTP/1.x "
	if len(line) < len(version) || !startsAsHTTP(line) || !digit(line[7]) || line[8] != ' ' {
		return false
	}
	status := bytes.TrimLeft(line[len(version):], " ")
	if len(status) < 3 || len(status) > 3 && status[3] != ' ' {
		return false
	}
	for _, c := range status[:3] {
		if !digit(c) {
			return false
		}
		p.Status = 10*p.Status + int(c-'0')
	}
	p.old = line[7] == '0'
	return p.Status >= 100
}

// line reads a field, or the continuation of one.
func (p *parser) line(line []byte) error {
	if line[0] == ' ' || line[0] == '\t' {
		if p.field != otherField || !validValue(line) {
			return errField
		}
		return nil
	}
	colon := bytes.IndexByte(line, ':')
	if colon < 0 || !validName(line[:colon]) || !validValue(line[colon+1:]) {
		return errField
	}
	p.field = fieldOf(line[:colon])
	return p.value(bytes.Trim(line[colon+1:], " \t"))
}

// value reads that of a field that matters.
func (p *parser) value(value []byte) error {
	switch p.field {
	case contentLength:
		return p.contentLength(value)
	case transferEncoding:
		return p.transferEncoding(value)
	case connection:
		p.Close = p.Close || hasToken(value, "close")
		p.keepAlive = p.keepAlive || hasToken(value, "keep-alive")
	case keepAlive:
		p.Idle = min(p.Idle, idleTime(value))
	case retryAfter:
		if !p.waits {
			p.waits, p.RetryAfter = true, string(value)
		}
	case noField, otherField:
	}
	return nil
}

func (p *parser) contentLength(value []byte) error {
	if p.lengths != nil && !bytes.Equal(value, p.lengths) {
		return errTwoLengths
	}
	p.lengths = value
	length, ok := parseDigits(value)
	if !ok {
		return errLength
	}
	p.Length = length
	return nil
}

// transferEncoding takes one, and that chunked. HTTP/1.0 has none: the body then
// ends with the connection.
func (p *parser) transferEncoding(value []byte) error {
	if !p.old && (p.encoded || !equalFold(value, "chunked")) {
		return errEncoding
	}
	p.encoded, p.Chunked = true, !p.old
	return nil
}

func (p *parser) finish() (Head, error) {
	if p.encoded && p.lengths != nil {
		return Head{}, errTwoLengths
	}
	if p.old && (!p.keepAlive || p.encoded) {
		p.Close = true
	}
	switch {
	case p.Status < 200, p.Status == http.StatusNoContent, p.Status == http.StatusNotModified:
		p.Length, p.Chunked = 0, false
	case p.Length == Unknown && !p.Chunked:
		p.Close = true
	}
	return p.Head, nil
}

// endOfHead returns the length of the head that b begins with, its empty line
// included; 0 when that is not there yet. The first searched bytes are known to hold
// no beginning of the end.
func endOfHead(b []byte, searched int) int {
	for at := searched; ; {
		next := bytes.IndexByte(b[at:], '\n')
		if next < 0 {
			return 0
		}
		at += next + 1
		switch {
		case bytes.HasPrefix(b[at:], []byte("\n")):
			return at + 1
		case bytes.HasPrefix(b[at:], []byte("\r\n")):
			return at + 2
		}
	}
}

// cutLine returns the first line without its end, which may be a bare LF, and what
// follows.
func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

func parseDigits(digits []byte) (int64, bool) {
	var n int64
	for _, c := range digits {
		if !digit(c) || n > (math.MaxInt64-int64(c-'0'))/10 {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, len(digits) > 0
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
