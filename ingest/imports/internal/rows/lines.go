package rows

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine is how long a line or a record may be, in bytes. A call has at most 32 KB; some
// of RudderStack's lines hold a whole batch.
const maxLine = 4 << 20

// lines reads a text line by line.
type lines struct {
	in   *bufio.Reader
	long []byte // a line that the buffer does not hold
	line int    // of the line that was read last, from 1
	cut  bool   // it is longer than maxLine, and its end was passed over
}

func newLines(text io.Reader) *lines { return &lines{in: bufio.NewReaderSize(text, 64<<10)} }

// next returns the next line without its end; it is valid until the next call. The error
// is io.EOF behind the last.
func (l *lines) next() ([]byte, error) {
	text, err := l.in.ReadSlice('\n')
	l.line, l.cut = l.line+1, false
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], text...)
		text, err = l.rest()
	}
	switch {
	case errors.Is(err, io.EOF) && len(text) > 0:
	case err == io.EOF: //nolint:errorlint // an unexpected end is none
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("line %d: %w", l.line, err)
	}
	if l.line == 1 {
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	return bytes.TrimSuffix(text, []byte("\r")), nil
}

// rest reads a long line to its end, and keeps as much of it as a line may have.
func (l *lines) rest() ([]byte, error) {
	for {
		text, err := l.in.ReadSlice('\n')
		room := maxLine - len(l.long)
		l.cut = l.cut || len(text) > room
		l.long = append(l.long, text[:min(len(text), room)]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.long, err
		}
	}
}
