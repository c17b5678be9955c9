package foes

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"
)

// patience is how long a client that is not slow waits for its answer.
const patience = 20 * time.Second

// outcome is what became of one connection.
type outcome struct {
	refused bool // it was not taken
	status  int  // of the answer; 0: there was none
	cut     bool // the server ended it
	lasted  time.Duration
}

// attack runs all clients of all kinds until ctx ends.
func attack(ctx context.Context, addr string, all []kind) []Tally {
	var wg sync.WaitGroup
	tallies := make([]Tally, len(all))
	for i, k := range all {
		t := &tallies[i]
		*t = newTally(&k)
		var mu sync.Mutex
		for n := range k.count {
			wg.Go(func() {
				// Spread over a second: a thousand at the same moment are a burst.
				pause(ctx, time.Duration(n)*time.Second/time.Duration(k.count))
				for ctx.Err() == nil {
					begun := time.Now()
					o := k.once(ctx, addr)
					mu.Lock()
					t.add(&k, o, ctx.Err() != nil)
					mu.Unlock()
					pause(ctx, time.Until(begun.Add(k.interval())))
				}
			})
		}
	}
	wg.Wait()
	return tallies
}

// interval is how long it is from one try of a client to the next. Clients know
// nothing of each other: at equal intervals they would stay in step.
func (k *kind) interval() time.Duration {
	if k.slow() {
		return time.Second // at the least: it may be turned away at once
	}
	return time.Duration(rand.ExpFloat64() / k.perSecond * float64(time.Second)) //nolint:gosec // no secret
}

func (k *kind) slow() bool { return k.perSecond == 0 }

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// once is one connection of a client.
func (k *kind) once(ctx context.Context, addr string) outcome {
	begun := time.Now() // not later than the server, whose time for a head runs from its accept
	dialer := net.Dialer{}
	if k.from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(k.from)}
	}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return outcome{refused: true}
	}
	defer conn.Close() //nolint:errcheck // nobody is to learn of it
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	o := k.speak(conn)
	o.lasted = time.Since(begun)
	o.cut = o.cut && ctx.Err() == nil
	return o
}

func (k *kind) speak(conn net.Conn) outcome {
	// An answer may come, and the connection end, before all of it is sent.
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = conn.Write(k.text)
	if k.slow() {
		return drip(conn, k.drips)
	}
	return listen(conn)
}

// listen reads the begin of what the server has to say, if it says anything before
// the deadline.
func listen(conn net.Conn) outcome {
	var line [64]byte
	n, err := conn.Read(line[:])
	if n > 0 {
		return outcome{status: statusOf(line[:n]), cut: true}
	}
	timeout, ok := err.(net.Error) //nolint:errorlint // as conn returns it
	return outcome{cut: !ok || !timeout.Timeout()}
}

// drip sends a byte a second, or nothing when there is none left, until the server
// has had enough.
func drip(conn net.Conn, text []byte) outcome {
	for {
		if len(text) > 0 {
			if _, err := conn.Write(text[:1]); err != nil {
				return outcome{cut: true}
			}
			text = text[1:]
		}
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		if o := listen(conn); o.cut {
			return o
		}
	}
}

// statusOf returns the status of an answer that begins like that, 0 when it is no
// HTTP.
func statusOf(begin []byte) int {
	version, rest, _ := bytes.Cut(begin, []byte{' '})
	if !bytes.HasPrefix(version, []byte("HTTP/1.")) || len(rest) < 3 {
		return 0
	}
	status, err := strconv.Atoi(string(rest[:3]))
	if err != nil {
		return 0
	}
	return status
}
