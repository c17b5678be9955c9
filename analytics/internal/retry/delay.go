package retry

import "time"

// The pauses between attempts double from First to Longest.
const (
	First   = 100 * time.Millisecond
	Longest = 10 * time.Second
)

// Delay returns the pause after the given number of failures in a row, 1 for the
// first. It lies in the upper half of First × 2^(failures-1), at most Longest;
// where in it is said by dice, from 0 up to but not including 1. Clients that
// failed together so come back apart.
func Delay(failures int, dice float64) time.Duration {
	pause := Longest
	if doublings := max(failures, 1) - 1; doublings < 7 { // 100 ms × 2^7 is beyond 10 s
		pause = First << doublings
	}
	return pause/2 + time.Duration(dice*float64(pause/2))
}

// Obey returns the pause when the server has asked for one: what it asked for,
// or the client's own if that is longer, and up to a tenth more, so that not all
// of its clients return in the same moment.
func Obey(asked, own time.Duration, dice float64) time.Duration {
	if asked <= 0 {
		return own
	}
	return max(asked, own) + time.Duration(dice*float64(asked)/10)
}
