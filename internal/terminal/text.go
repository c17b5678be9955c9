package terminal

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Stamp is how times are written; they are UTC.
const Stamp = "2006-01-02 15:04:05Z"

// Moment returns a time for people, "-" for none.
func Moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(Stamp)
}

// Safe returns text as it is when a terminal just shows it, else in quotes; "-"
// for none.
func Safe(text string) string {
	switch {
	case text == "":
		return "-"
	case strings.ContainsFunc(text, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }):
		return strconv.Quote(text)
	}
	return text
}

// Brief returns a duration in its two largest units, cut: "12m4s", "3h5m", "2d".
// One that is negative, as that of two clocks may be, is "0s".
func Brief(d time.Duration) string {
	units := []struct {
		length time.Duration
		symbol string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}}
	for i, u := range units {
		if d < u.length {
			continue
		}
		text := strconv.FormatInt(int64(d/u.length), 10) + u.symbol
		if i+1 < len(units) && d%u.length >= units[i+1].length {
			text += strconv.FormatInt(int64(d%u.length/units[i+1].length), 10) + units[i+1].symbol
		}
		return text
	}
	return "0s"
}

// Count returns a number with a comma before each three digits: "1,204".
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	least := 0
	if n < 0 {
		least = 1
	}
	for i := len(digits) - 3; i > least; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
