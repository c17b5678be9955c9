package messagetrace

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// hint returns when a messageId was made, as far as it says so itself: those of
// Analytics.js ("ajs-next-<milliseconds>-<random>"), and UUIDs of version 7, which begin
// with the time.
func hint(messageID string) (time.Time, bool) {
	if rest, ok := strings.CutPrefix(messageID, "ajs-next-"); ok {
		digits, _, _ := strings.Cut(rest, "-")
		n, err := strconv.ParseInt(digits, 10, 64)
		return plausible(n, err == nil && len(digits) == millisDigits)
	}
	bare := strings.ReplaceAll(messageID, "-", "")
	raw, err := hex.DecodeString(bare)
	if err != nil || len(raw) != 16 || len(messageID) != 36 || raw[6]>>4 != 7 || raw[8]>>6 != 2 {
		return time.Time{}, false
	}
	n := int64(0)
	for _, b := range raw[:6] {
		n = n<<8 | int64(b)
	}
	return plausible(n, true)
}

// millisDigits is how many digits milliseconds since 1970 have, from 2001 to 2286.
const millisDigits = 13

func plausible(millis int64, ok bool) (time.Time, bool) {
	at := time.UnixMilli(millis).UTC()
	return at, ok && at.Year() > 2000 && at.Year() < 2100
}

// window is a part of the time that is searched: From up to To, To excluded.
type window struct{ From, To time.Time }

const (
	firstWindow = 5 * time.Minute
	// Clocks of clients are ahead or behind, and calls wait for their batch. Those of a client
	// that was offline are found later.
	hintBefore = 2 * time.Minute
	hintAfter  = 5 * time.Minute
)

// windows are the parts of a time in the order in which they are searched: around when an
// id says that it was made, then the newest first, each twice as long as the one before.
// Together they are all of it.
func windows(since, until time.Time, messageID string, first time.Duration) []window {
	var all []window
	if at, ok := hint(messageID); ok {
		around := window{latest(at.Add(-hintBefore), since), earliest(at.Add(hintAfter), until)}
		if around.From.Before(around.To) {
			all = append(all, around)
		}
	}
	for to, length := until, first; to.After(since); length *= 2 {
		from := latest(to.Add(-length), since)
		all = append(all, window{from, to})
		to = from
	}
	return all
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
