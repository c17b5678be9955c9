package resolve

import (
	"errors"
	"net"
	"net/netip"
	"time"
)

const (
	// An answer holds for freshFor without being asked for again. Endpoints that
	// move by DNS have records that live for half a minute or more.
	freshFor = 5 * time.Second
	// A failure holds for a moment, so that a name that does not exist is not
	// asked for by every event of its destination.
	failedFor = time.Second
	// While asking again does not work, the last addresses stay of use for
	// usableFor: no longer than a connection made with them may live.
	usableFor = 5 * time.Minute
	// patience is how long an attempt waits for a new answer when there is an
	// old one of use.
	patience = 500 * time.Millisecond
)

// answer is what the last look-up of a name came to. The zero value is that of a
// name never looked up.
type answer struct {
	addrs []netip.Addr // empty with an error, and only then once looked up
	err   error
	found time.Time // when addrs were found
	until time.Time // how long the answer holds
}

func (a answer) holds(now time.Time) bool { return now.Before(a.until) }

func (a answer) usable(now time.Time) bool {
	return len(a.addrs) > 0 && now.Before(a.found.Add(usableFor))
}

// follow returns the answer that a look-up makes of the one before. A name server
// that says there is no such name is believed; one that fails leaves the last
// addresses in force.
func (a answer) follow(addrs []netip.Addr, err error, now time.Time) answer {
	switch {
	case err == nil:
		return answer{addrs: addrs, found: now, until: now.Add(freshFor)}
	case a.usable(now) && !denied(err):
		return answer{addrs: a.addrs, found: a.found, until: now.Add(failedFor)}
	default:
		return answer{err: err, until: now.Add(failedFor)}
	}
}

// denied reports that the name servers answered, and that there is no such name
// or no address of it.
func denied(err error) bool {
	lookup, ok := errors.AsType[*net.DNSError](err)
	return ok && lookup.IsNotFound
}
