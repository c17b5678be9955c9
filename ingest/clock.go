package ingest

// stamps are the time stamps that a client put on one call, in Unix
// milliseconds.
type stamps struct {
	own    stamp // when it happened: originalTimestamp, else timestamp
	sentAt stamp // when it was sent: the call's own sentAt, else the batch's
}

// stamp is a time stamp that may be absent.
type stamp struct {
	millis int64
	given  bool
}

// correct returns when the event happened:
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
func (s stamps) correct(receivedAt int64) (at int64, ok bool) {
	if !s.own.given {
		return receivedAt, true
	}
	at = s.own.millis
	if s.sentAt.given {
		// In milliseconds: a time.Duration ends at 292 years, and a client's
		// clock at the year 1 is no rarity.
		at = receivedAt - (s.sentAt.millis - s.own.millis)
	}
	if at < minInstant || at > maxInstant {
		return receivedAt, false
	}
	return at, true
}

// stampReader reads the time stamps of one call and counts those that can't be
// read. They never refuse a call: they count as absent (protocol, 10).
type stampReader struct{ unreadable int }

// first returns the first of some values, stable JSON and nil or null when
// absent, that can be read.
func (r *stampReader) first(values ...[]byte) stamp {
	for _, value := range values {
		if !given(value) {
			continue
		}
		if millis, ok := parseTime(value); ok {
			return stamp{millis, true}
		}
		r.unreadable++
	}
	return stamp{}
}
