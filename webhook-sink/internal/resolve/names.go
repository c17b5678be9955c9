package resolve

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
)

const (
	// maxLookups bounds the look-ups under way. Each takes up to two sockets and
	// three goroutines. It is far above the number of names that hang in an
	// ordinary outage, since those hold their places while others wait.
	maxLookups = 256
	// lookupTime bounds one look-up. A first name server that is dead costs
	// 5 s (resolv.conf's default), the second one answers in what is left.
	lookupTime = 10 * time.Second
	// maxNames bounds the memory of answers, below a kilobyte each.
	maxNames = 4096
)

// flight is one look-up under way.
type flight struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when answer is set
	answer answer
}

// name is what is known of one name.
type name struct {
	answer answer
	flight *flight // nil when nobody is asking
}

// names looks up names and remembers the answers for a while.
type names struct {
	lookup  lookupFunc
	limit   int           // of names remembered
	places  chan struct{} // holds one for each look-up under way
	flights sync.WaitGroup

	mu     sync.Mutex
	known  map[string]*name
	closed bool
}

func newNames(lookup lookupFunc) *names {
	return &names{lookup: lookup, limit: maxNames, places: make(chan struct{}, maxLookups), known: make(map[string]*name)}
}

// find returns the addresses of a host, at least one when the error is nil. All
// its errors are of type [*net.DNSError].
func (n *names) find(ctx context.Context, host string) ([]netip.Addr, error) {
	last, flight := n.ask(ctx, strings.ToLower(host))
	if flight == nil {
		return last.addrs, last.err
	}
	var enough <-chan time.Time
	if last.usable(time.Now()) {
		enough = time.After(patience)
	}
	select {
	case <-flight.done:
		return flight.answer.addrs, flight.answer.err
	case <-enough:
		return last.addrs, nil
	case <-ctx.Done():
		return nil, notFound(host, ctx.Err())
	}
}

// ask returns the last answer, and the look-up to wait for unless that answer
// still holds.
func (n *names) ask(ctx context.Context, host string) (answer, *flight) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return answer{err: notFound(host, net.ErrClosed)}, nil
	}
	entry, now := n.known[host], time.Now()
	if entry == nil {
		entry = new(name)
		n.room(now)
		n.known[host] = entry
	}
	if entry.flight == nil && !entry.answer.holds(now) {
		n.start(ctx, host, entry)
	}
	return entry.answer, entry.flight
}

// start begins a look-up. It keeps the values of ctx but not its end, which is
// that of one attempt: others may be waiting, and the next one wants the answer.
func (n *names) start(ctx context.Context, host string, entry *name) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTime)
	f := &flight{cancel: cancel, done: make(chan struct{})}
	entry.flight = f
	n.flights.Go(func() {
		defer cancel()
		addrs, err := n.fetch(ctx, host)
		n.mu.Lock()
		defer n.mu.Unlock()
		f.answer = entry.answer.follow(addrs, err, time.Now())
		entry.answer, entry.flight = f.answer, nil
		close(f.done)
	})
}

// fetch makes a look-up when there is a place for it.
func (n *names) fetch(ctx context.Context, host string) ([]netip.Addr, error) {
	select {
	case n.places <- struct{}{}:
		defer func() { <-n.places }()
	case <-ctx.Done():
		return nil, notFound(host, ctx.Err())
	}
	addrs, err := n.lookup(ctx, host)
	if err != nil && !isNameError(err) {
		err = notFound(host, err)
	}
	return addrs, err
}

func isNameError(err error) bool {
	_, ok := errors.AsType[*net.DNSError](err)
	return ok
}

// room makes room for one more name: first by what is of no use any more, then
// by any that nobody is asking for.
func (n *names) room(now time.Time) {
	if len(n.known) < n.limit {
		return
	}
	for host, entry := range n.known {
		if entry.flight == nil && !entry.answer.holds(now) && !entry.answer.usable(now) {
			delete(n.known, host)
		}
	}
	for host, entry := range n.known {
		if len(n.known) < n.limit {
			return
		}
		if entry.flight == nil {
			delete(n.known, host)
		}
	}
}

// close ends all look-ups and waits for them.
func (n *names) close() {
	n.mu.Lock()
	n.closed = true
	for _, entry := range n.known {
		if entry.flight != nil {
			entry.flight.cancel()
		}
	}
	n.mu.Unlock()
	n.flights.Wait()
}

// notFound is a failed look-up in the words of package net.
func notFound(host string, err error) *net.DNSError {
	return &net.DNSError{
		UnwrapErr: err, Err: err.Error(), Name: host,
		IsTimeout: errors.Is(err, context.DeadlineExceeded),
	}
}
