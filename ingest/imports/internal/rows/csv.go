package rows

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// table is one file of separated values as it is read.
type table struct {
	in        *lines
	separator string
	cells     []string // of the record that was read last
	text      []byte   // the record
	line      int      // at which it begins
	problem   string   // why it is none; empty for a good one
}

// next reads a record; lines without anything in them are passed over. The error is
// io.EOF behind the last.
func (t *table) next() error {
	for {
		line, err := t.in.next()
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		t.line, t.problem = t.in.line, ""
		t.text, t.cells = append(t.text[:0], line...), t.cells[:0]
		switch {
		case t.in.cut:
			t.text, t.problem = t.text[:shownOfLong], tooLong
		case t.separator == whitespace:
			t.cells = append(t.cells, strings.Fields(string(line))...)
		default:
			err = t.split(string(line))
		}
		return err
	}
}

// split takes a record apart: RFC 4180, with any separator.
func (t *table) split(rest string) (err error) {
	for {
		var cell string
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			cell, rest, err = t.quoted(quoted)
			if err != nil || t.problem != "" {
				return err
			}
			t.cells = append(t.cells, cell)
			if rest == "" {
				return nil
			}
			if rest, ok = strings.CutPrefix(rest, t.separator); !ok {
				t.problem = fmt.Sprintf("column %d: expected the separator behind the closing quote", len(t.cells))
				return nil
			}
			continue
		}
		cell, behind, more := strings.Cut(rest, t.separator)
		if t.cells = append(t.cells, cell); !more {
			return nil
		}
		rest = behind
	}
}

// quoted reads a cell whose opening quote was read, which may go on for some lines.
func (t *table) quoted(rest string) (cell, behind string, err error) {
	var text strings.Builder
	for {
		part, after, closed := strings.Cut(rest, `"`)
		text.WriteString(part)
		if closed {
			if rest, closed = strings.CutPrefix(after, `"`); !closed {
				return text.String(), after, nil
			}
			text.WriteByte('"')
			continue
		}
		line, err := t.in.next()
		switch {
		case err != nil && ended(err) != nil:
			return "", "", err
		case err != nil:
			t.problem = fmt.Sprintf("column %d: expected a closing quote before the end of the file", len(t.cells)+1)
		case t.in.cut || len(t.text)+len(line) >= maxLine:
			t.problem = fmt.Sprintf("column %d: expected a closing quote within %d bytes", len(t.cells)+1, maxLine)
		}
		if t.problem != "" {
			t.text = t.text[:min(len(t.text), shownOfLong)]
			return "", "", nil
		}
		t.text = append(append(t.text, '\n'), line...)
		text.WriteByte('\n')
		rest = string(line)
	}
}

// header returns the names of the columns: those of the record that was read, or the given
// ones in their place.
func (t *table) header(given []string) (columns []string, problem string) {
	columns = slices.Clone(t.cells)
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
	}
	switch {
	case t.problem != "":
		problem = t.problem
	case strings.Contains(strings.Join(columns, ""), "\r"):
		problem = "found a carriage return within the line, expected lines that end in LF or CRLF"
	case len(columns) == 1 && len(given) != 1 && strings.ContainsAny(columns[0], ",;|\t"):
		problem = fmt.Sprintf("found one column, %s, expected some separated by %q: see separator in the mapping", quoted(columns[0]), t.separator)
	case given != nil && len(given) != len(columns):
		problem = fmt.Sprintf("found %d columns, expected the %d of the mapping", len(columns), len(given))
	case given != nil:
		columns = given
	default:
		problem = notUTF8(t.text)
	}
	return columns, problem
}

// rows hands out the records of a file as calls.
func (m *Mapping) rows(in *lines, row *Row, each func(*Row) error) error {
	t := &table{in: in, separator: m.separator}
	columns := m.columns
	if m.header {
		if err := t.next(); err != nil {
			return ended(err)
		}
		var problem string
		if columns, problem = t.header(m.columns); problem != "" {
			return fmt.Errorf("%s:%d: header: %s", row.File, t.line, problem)
		}
	}
	maker, err := m.over(columns, row.File)
	if err != nil {
		return err
	}
	for {
		if err := t.next(); err != nil {
			return ended(err)
		}
		row.Line = t.line
		var call []byte
		problem := t.problem
		switch {
		case problem != "":
		case len(t.cells) != len(columns):
			problem = fmt.Sprintf("found %d columns, expected %d", len(t.cells), len(columns))
		default:
			if call, problem = maker.call(t.cells); problem != "" {
				call = nil
			}
		}
		if err := row.hand(t.text, call, problem, each); err != nil {
			return err
		}
	}
}
