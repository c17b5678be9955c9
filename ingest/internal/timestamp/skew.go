package timestamp

import "time"

// MaxSkew is by how much the clock of a client may differ from the server's
// before it is called wrong. No queue on the way takes that long. It is less than
// an hour because of the clients that send their local time as UTC: one in the next
// zone is ahead by an hour less the time that the request took.
const MaxSkew = 45 * time.Minute

// Skew is what the calls of a request say of the clock that sent them. The zero
// value has seen none.
type Skew struct {
	Calls int           // sent by a clock that is wrong
	Ahead time.Duration // of the first of them; negative when it is behind
}

// Note looks at when a call was sent, by the client's clock, and received, in Unix
// milliseconds. The times of calls are corrected by the difference (protocol, 10),
// so a wrong clock refuses nothing; but its owner should know.
func (s *Skew) Note(sentAt Stamp, receivedAt int64) {
	ahead := sentAt.Millis - receivedAt
	if !sentAt.Given || max(ahead, -ahead) <= MaxSkew.Milliseconds() {
		return
	}
	if s.Calls == 0 {
		s.Ahead = time.Duration(min(max(ahead, -maxMillis), maxMillis)) * time.Millisecond
	}
	s.Calls++
}

// maxMillis is how many milliseconds a time.Duration holds at most: 292 years,
// which clocks at the year 1 go beyond.
const maxMillis = int64(1<<63-1) / int64(time.Millisecond)
