package definition

import (
	"strconv"
	"time"
)

// MaxDuration is the longest that a definition may say: a hundred years.
const MaxDuration = 36_500 * 24 * time.Hour

const wantDuration = "a duration: a whole number and one of s, m, h, d, w, such as 90s, 12h or 7d; at most 36500d"

// units are those of a duration, the longest first. Weeks are read and not written.
var units = []struct {
	letter byte
	of     time.Duration
}{{'w', 7 * 24 * time.Hour}, {'d', 24 * time.Hour}, {'h', time.Hour}, {'m', time.Minute}, {'s', time.Second}}

// ParseDuration reads a duration such as 90s, 30m, 12h, 7d or 4w.
func ParseDuration(text string) (d time.Duration, ok bool) {
	last := len(text) - 1
	if last < 1 || last > 10 || text[0] == '0' && last > 1 {
		return 0, false
	}
	for i := range last {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(text[:last], 10, 64)
	for _, unit := range units {
		if unit.letter == text[last] && err == nil && n <= int64(MaxDuration/unit.of) {
			return time.Duration(n) * unit.of, true
		}
	}
	return 0, false
}

// FormatDuration is the inverse of [ParseDuration], in the longest unit that fits, up to
// days.
func FormatDuration(d time.Duration) string {
	for _, unit := range units[1:] {
		if d%unit.of == 0 && (d != 0 || unit.letter == 's') {
			return strconv.FormatInt(int64(d/unit.of), 10) + string(unit.letter)
		}
	}
	return d.String()
}

const wantTime = "a time: 2026-11-27, which begins at midnight UTC, or 2026-11-27T09:30:00Z"

// parseTime reads a date or a time of RFC 3339, which is in UTC or says by how much not.
func parseTime(text string) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			t = t.UTC()
			return t, t.Year() >= 1 && t.Year() <= 9999 // what can be written again
		}
	}
	return time.Time{}, false
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
