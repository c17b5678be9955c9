// Package reminder keeps a trouble that lasts from filling the log.
package reminder

import "time"

// again is how long a trouble that lasts is not logged again.
const again = 10 * time.Second

// Reminder says when a trouble is to be logged. Its zero value remembers none.
// It is for one goroutine.
type Reminder struct {
	text string
	at   time.Time
}

// Due reports whether the trouble that text describes is to be logged now: when
// it is another than the last, and again each ten seconds while it stays.
func (r *Reminder) Due(text string, now time.Time) bool {
	if text == r.text && now.Sub(r.at) < again {
		return false
	}
	r.text, r.at = text, now
	return true
}
