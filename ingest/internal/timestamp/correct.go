package timestamp

// Stamps are the time stamps that a client put on one call.
type Stamps struct {
	Own    Stamp // when it happened: originalTimestamp, else timestamp
	SentAt Stamp // when it was sent: the call's own sentAt, else the batch's
}

// Stamp is a time stamp that may be absent.
type Stamp struct {
	Millis int64 // Unix milliseconds
	Given  bool
}

// Correct returns when the event happened, all instants in Unix milliseconds:
//
//	receivedAt − (sentAt − own)
//
// which takes out the error of the client's clock and leaves the time that the
// call waited in its queue. Without sentAt the clock cannot be judged, and the
// client's own time is kept as it is: that is how a historical import is made.
// Without a time of the client's it is receivedAt. Rule: protocol, 10.
//
// It is receivedAt, and ok false, when the result lies outside the years 0 to
// 9999.
func (s Stamps) Correct(receivedAt int64) (at int64, ok bool) {
	if !s.Own.Given {
		return receivedAt, true
	}
	at = s.Own.Millis
	if s.SentAt.Given {
		// In milliseconds: a time.Duration ends at 292 years, and a client's
		// clock at the year 1 is no rarity.
		at = receivedAt - (s.SentAt.Millis - s.Own.Millis)
	}
	if at < minInstant || at > maxInstant {
		return receivedAt, false
	}
	return at, true
}
