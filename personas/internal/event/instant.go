package event

import (
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// layouts are those of the instants that tests know, beside the one that ingest writes:
// ISO 8601 with a zone, or without one for UTC, or the day alone.
var layouts = [...]string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05.999999999", "2006-01-02T15:04", time.DateTime, time.DateOnly,
}

// instant reads an instant, in Unix milliseconds rounded down.
func instant(text []byte) (millis int64, ok bool) {
	if len(text) < len(time.DateOnly) || len(text) > 40 || text[4] != '-' || text[7] != '-' {
		return 0, false // most texts are no instants: an error is dear
	}
	if millis, ok := canonical(text); ok {
		return millis, true
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, string(text)); err == nil {
			return at.UnixMilli(), true
		}
	}
	return 0, false
}

// canonical is instant for the layout that ingest writes, schemas.TimeLayout, of which
// there is one in every call: time.Parse takes ten times as long.
func canonical(text []byte) (millis int64, ok bool) {
	const shape = "dddd-dd-ddTdd:dd:dd.dddZ"
	if len(text) != len(shape) || len(shape) != len(schemas.TimeLayout) {
		return 0, false
	}
	var n [7]int // year, month, day, hour, minute, second, millisecond
	field := 0
	for i := range len(shape) {
		c := text[i]
		if shape[i] == 'd' {
			if c < '0' || c > '9' {
				return 0, false
			}
			n[field] = n[field]*10 + int(c-'0')
			continue
		}
		if c != shape[i] {
			return 0, false
		}
		field++
	}
	if n[3] > 23 || n[4] > 59 || n[5] > 59 {
		return 0, false
	}
	at := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*int(time.Millisecond), time.UTC)
	// The day of a month that has fewer would be one of the next.
	return at.UnixMilli(), at.Day() == n[2] && at.Month() == time.Month(n[1])
}
