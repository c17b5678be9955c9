package rows

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // images have no time zones

	"github.com/anabranch/anabranch/ingest/internal/timestamp"
	"github.com/anabranch/anabranch/internal/stablejson"
)

// cell says what becomes of the text in a column.
type cell struct {
	column string
	typ    string // text, number, boolean
	layout string // of a time: iso, unix, unix_ms, or one of package time; "": it is none
	zone   *time.Location
}

// append appends the JSON of a text. The problem is what was expected instead.
func (c *cell) append(dst []byte, text string) (out []byte, problem string) {
	switch {
	case c.layout != "":
		return c.appendTime(dst, strings.TrimSpace(text))
	case c.typ == typeNumber:
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) || strings.ContainsAny(text, "xXpP_") {
			return dst, "a number"
		}
		return stablejson.AppendFloat(dst, n), ""
	case c.typ == typeBoolean:
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true", "t", "yes", "y", "1":
			return append(dst, "true"...), ""
		case "false", "f", "no", "n", "0":
			return append(dst, "false"...), ""
		}
		return dst, "true or false, yes or no, 1 or 0"
	default:
		return stablejson.AppendString(dst, text), ""
	}
}

// withoutZone are the texts of layout iso that say nothing of a zone.
var withoutZone = []string{
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
}

func (c *cell) appendTime(dst []byte, text string) ([]byte, string) {
	var at time.Time
	var err error
	switch c.layout {
	case layoutUnix, layoutUnixMs:
		n, wrong := strconv.ParseFloat(text, 64)
		if c.layout == layoutUnix {
			n *= 1000
		}
		if wrong != nil || math.Abs(n) > 1e15 {
			return dst, "a time as a number, layout " + c.layout
		}
		at = time.UnixMilli(int64(math.Round(n)))
	case layoutISO:
		for _, layout := range withoutZone {
			if at, err = time.ParseInLocation(layout, text, c.zone); err == nil {
				break
			}
		}
		if err != nil {
			millis, ok := timestamp.Parse(stablejson.AppendString(nil, text))
			if !ok {
				return dst, "a time such as 2026-11-21T08:30:00Z"
			}
			at = time.UnixMilli(millis)
		}
	default:
		if at, err = time.ParseInLocation(c.layout, text, c.zone); err != nil {
			return dst, "a time of the layout " + c.layout
		}
	}
	if year := at.UTC().Year(); year < 0 || year > 9999 {
		return dst, "a time of the years 0 to 9999"
	}
	return timestamp.Append(dst, at.UnixMilli()), ""
}

// maker makes calls of the records of one file.
type maker struct {
	root  *member
	index map[*member]int // of the column
	rest  []int           // columns that become members of their own name
	names []string        // of all columns
	out   []byte
	fault string
}

// call returns the JSON of a record, valid until the next one.
func (k *maker) call(cells []string) (call []byte, problem string) {
	k.fault = ""
	k.out = k.object(k.out[:0], k.root, cells)
	return k.out, k.fault
}

// object appends an object; cells without a text are absent.
func (k *maker) object(dst []byte, m *member, cells []string) []byte {
	dst = append(dst, '{')
	open := len(dst)
	add := func(key string, value func([]byte) []byte) {
		before := len(dst)
		if before > open {
			dst = append(dst, ',')
		}
		dst = append(stablejson.AppendString(dst, key), ':')
		start := len(dst)
		if dst = value(dst); len(dst) == start {
			dst = dst[:before]
		}
	}
	for _, child := range m.children {
		add(child.key, func(dst []byte) []byte { return k.value(dst, child, cells) })
	}
	if m.rest {
		for _, i := range k.rest {
			if cells[i] != "" {
				add(k.names[i], func(dst []byte) []byte { return stablejson.AppendString(dst, cells[i]) })
			}
		}
	}
	return append(dst, '}')
}

// value appends the value of a member, or nothing where there is none.
func (k *maker) value(dst []byte, m *member, cells []string) []byte {
	switch {
	case m.constant != nil:
		return stablejson.AppendString(dst, *m.constant)
	case m.cell == nil:
		return k.object(dst, m, cells)
	}
	text := cells[k.index[m]]
	if strings.TrimSpace(text) == "" {
		return dst
	}
	out, want := m.cell.append(dst, text)
	if want != "" && k.fault == "" {
		k.fault = fmt.Sprintf("column %s: found %s, expected %s", m.cell.column, quoted(text), want)
	}
	return out
}

func quoted(text string) string {
	const shown = 60
	if len(text) > shown {
		return strconv.Quote(strings.ToValidUTF8(text[:shown], "")) + "…"
	}
	return strconv.Quote(text)
}
