package wire

import (
	"regexp"
	"time"
)

// stamp is a date, or a date and a time of day, as the server reads them (protocol,
// 10): with any number of digits of a second up to nine, and Z, ±hh:mm, ±hhmm or
// nothing for the zone.
var stamp = regexp.MustCompile(`^\d{4}-\d\d-\d\d` +
	`([Tt ]([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d{1,9})?)?` +
	`([Zz]|[+-]([01]\d|2[0-3]):?[0-5]\d)?)?$`)

// readable reports whether the server can read a time stamp. One that it can't costs
// the message its time: it would be that of its arrival.
func readable(text string) bool {
	if len(text) > len("2006-01-02T15:04:05.000000000+00:00") || !stamp.MatchString(text) {
		return false
	}
	_, err := time.Parse(time.DateOnly, text[:len(time.DateOnly)])
	return err == nil
}
