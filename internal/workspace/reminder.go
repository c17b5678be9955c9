package workspace

import "time"

// reminder keeps a trouble that lasts from filling the log: it is due when it
// is another than the last, and again when remindAfter has passed.
type reminder struct {
	text string
	at   time.Time
}

func (r *reminder) due(text string, now time.Time) bool {
	if text == r.text && now.Sub(r.at) < remindAfter {
		return false
	}
	r.text, r.at = text, now
	return true
}
