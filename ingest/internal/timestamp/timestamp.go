package timestamp

import (
	"bytes"
	"time"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// The instants that have four digits for the year, in Unix milliseconds. Beyond
// them nothing is printed in the shape that receivers expect.
const (
	minInstant = -62_167_219_200_000 // 0000-01-01T00:00:00.000Z
	maxInstant = 253_402_300_799_999 // 9999-12-31T23:59:59.999Z
)

// Append appends an instant, Unix milliseconds of the years 0 to 9999, as a
// stable JSON string with schemas.TimeLayout. A layout that time interprets each
// time anew was an eighth of what a call costs.
func Append(dst []byte, millis int64) []byte {
	t := time.UnixMilli(millis).UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	dst = appendDigits(append(dst, '"'), year, 4)
	dst = appendDigits(append(dst, '-'), int(month), 2)
	dst = appendDigits(append(dst, '-'), day, 2)
	dst = appendDigits(append(dst, 'T'), hour, 2)
	dst = appendDigits(append(dst, ':'), minute, 2)
	dst = appendDigits(append(dst, ':'), second, 2)
	dst = appendDigits(append(dst, '.'), t.Nanosecond()/int(time.Millisecond), 3)
	return append(dst, 'Z', '"')
}

// appendDigits appends the last n decimal digits of value.
func appendDigits(dst []byte, value, n int) []byte {
	var digits [4]byte
	for i := n - 1; i >= 0; i-- {
		digits[i] = byte('0' + value%10)
		value /= 10
	}
	return append(dst, digits[:n]...)
}

// Parse reads a time stamp as the SDKs write it, a stable JSON value, and returns
// Unix milliseconds, digits beyond them cut off. A string is a date, or a date
// and a time with `Z`, `±hh:mm`, `±hhmm` or no zone, which is UTC (Go's
// RFC 3339 parser refuses three of these); a number is milliseconds since the
// epoch, or seconds where milliseconds would be before March 1973. False is
// everything else, and what lies outside the years 0 to 9999. Rule: protocol, 10.
func Parse(value []byte) (millis int64, ok bool) {
	switch stablejson.KindOf(value) {
	case stablejson.KindString:
		// A string with an escape sequence in it is no time stamp, so the text
		// need not be decoded.
		millis, ok = parseClock(value[1 : len(value)-1])
	case stablejson.KindNumber:
		millis, ok = parseEpoch(value)
	default:
		return 0, false
	}
	return millis, ok && millis >= minInstant && millis <= maxInstant
}

// parseEpoch works on the digits: in float64 1795223069.458 s × 1000 is not
// always the millisecond that was meant.
func parseEpoch(number []byte) (millis int64, ok bool) {
	const secondsBelow = 100_000_000_000
	digits, negative := bytes.CutPrefix(number, []byte("-"))
	whole, fraction, _ := bytes.Cut(digits, []byte("."))
	if len(whole) > len("253402300799999") {
		return 0, false
	}
	s := scanner{rest: whole}
	millis = int64(s.digits(len(whole)))
	if millis < secondsBelow {
		s.rest = fraction
		millis = millis*1000 + int64(s.fraction(3))
		s.digits(len(s.rest))
	}
	if negative {
		millis = -millis
	}
	return millis, !s.bad
}

func parseClock(text []byte) (millis int64, ok bool) {
	s := scanner{rest: text}
	year := s.digits(4)
	s.take('-')
	month := s.digits(2)
	s.take('-')
	day := s.digits(2)
	var c clock
	if len(s.rest) > 0 {
		c = s.clock()
	}
	if s.bad || month < 1 || month > 12 || !c.valid() {
		return 0, false
	}
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if date.Day() != day {
		return 0, false // 30 February has become 2 March
	}
	return date.UnixMilli() + c.millis(), true
}

// clock is the time of day with its zone.
type clock struct {
	hour, minute, second, milli int
	zoneHour, zoneMinute        int
	west                        bool
}

// valid allows the leap second, which counts as the first of the next minute.
func (c *clock) valid() bool {
	return c.hour < 24 && c.minute < 60 && c.second <= 60 && c.zoneHour < 24 && c.zoneMinute < 60
}

// millis is the time since midnight UTC of the day that was written.
func (c *clock) millis() int64 {
	offset := c.zoneHour*60 + c.zoneMinute
	if c.west {
		offset = -offset
	}
	return int64(((c.hour*60+c.minute-offset)*60+c.second)*1000 + c.milli)
}
