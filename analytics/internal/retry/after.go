package retry

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// LongestAsked bounds what a server may ask for. Beyond an hour it is more likely
// to be wrong than to be meant, and the queue is in memory.
const LongestAsked = time.Hour

// After reads a Retry-After header (RFC 9110, 10.2.3): whole seconds, or a date
// in one of the three formats of HTTP, which is compared with the server's own
// clock where the answer has a Date. It returns 0 when there is nothing to wait
// for, or nothing that can be read.
func After(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if allDigits(value) {
		return seconds(value)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	return clamp(at.Sub(now))
}

func seconds(digits string) time.Duration {
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return LongestAsked // more seconds than fit
	}
	return clamp(time.Duration(n) * time.Second)
}

func allDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

func clamp(d time.Duration) time.Duration { return min(max(d, 0), LongestAsked) }
