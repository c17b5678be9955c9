package deadletters

import (
	"fmt"
	"time"
)

// ParseTime reads a moment as people type it: a duration back from now ("24h",
// "90m"), a time of RFC 3339, or a date, which begins at midnight UTC. The moment
// is not later than now. The result is in UTC and whole milliseconds, as the times of
// records are.
func ParseTime(text string, now time.Time) (time.Time, error) {
	at, ok := parseTime(text, now)
	if !ok || at.After(now) || at.Year() < 1 {
		return time.Time{}, fmt.Errorf("%q: expected a duration back such as 24h or 90m, a time such as 2026-11-21T08:30:00Z or a date such as 2026-11-21, not in the future", text)
	}
	return at.UTC().Truncate(time.Millisecond), nil
}

func parseTime(text string, now time.Time) (time.Time, bool) {
	if back, err := time.ParseDuration(text); err == nil {
		return now.Add(-back), true
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
