package body

import (
	"errors"
	"io"
	"net/netip"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

// client sends a chunk after each pause, in virtual time, and then ends the body or
// falls silent. It has the deadline of a connection.
type client struct {
	chunk, chunks int
	pause         time.Duration
	silent        bool

	left     int // of the chunk that arrives
	due      time.Time
	deadline chan time.Time
}

func (c *client) SetReadDeadline(t time.Time) error {
	c.deadline <- t
	return nil
}

func (c *client) Read(p []byte) (int, error) {
	next := time.Now().Add(c.pause)
	switch {
	case c.left > 0:
		next = time.Now()
	case c.chunks > 0:
	case c.silent:
		next = next.Add(time.Hour)
	default:
		return 0, io.EOF
	}
	for {
		wake := next
		if !c.due.IsZero() && c.due.Before(wake) {
			wake = c.due
		}
		select {
		case c.due = <-c.deadline:
		case <-time.After(time.Until(wake)):
			if wake.Before(next) {
				return 0, os.ErrDeadlineExceeded
			}
			if c.left == 0 {
				c.left = c.chunk
				c.chunks--
			}
			n := min(c.left, len(p))
			c.left -= n
			return n, nil
		}
	}
}

// crowd are senders at the same time.
type crowd struct {
	pool   Pool
	ended  chan ending
	begun  int
	counts map[string]counts // by the name of the sender
}

type ending struct {
	name string
	err  error
	took time.Duration
}

type counts struct {
	arrived, evicted, slow int
	longest                time.Duration
}

func newCrowd() *crowd {
	return &crowd{ended: make(chan ending), counts: make(map[string]counts)}
}

func (c *crowd) send(name string, from Sender, s client) {
	c.begun++
	s.deadline = make(chan time.Time, 1000)
	from.Conn = &s
	go func() {
		began := time.Now()
		b := c.pool.Get()
		err := b.Receive(request(&s, -1), 512_000, from)
		c.pool.Put(b)
		c.ended <- ending{name, err, time.Since(began)}
	}()
}

func (c *crowd) wait(t *testing.T) map[string]counts {
	t.Helper()
	for range c.begun {
		e := <-c.ended
		n := c.counts[e.name]
		switch {
		case e.err == nil:
			n.arrived++
		case errors.Is(e.err, ErrNoRoom):
			n.evicted++
		case errors.Is(e.err, os.ErrDeadlineExceeded):
			n.slow++
		default:
			t.Errorf("%s: %v", e.name, e.err)
		}
		n.longest = max(n.longest, e.took)
		c.counts[e.name] = n
	}
	if r := &c.pool.room; r.taken != 0 || r.strangers != 0 || len(r.stranger) != 0 || len(r.arriving) != 0 {
		t.Errorf("%d bytes of the room are taken when nothing is in hand, %d of strangers, %d addresses, %d bodies", r.taken, r.strangers, len(r.stranger), len(r.arriving))
	}
	return c.counts
}

var foe, friend = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("198.51.100.7")

// numbered is an address of many.
func numbered(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}) }

// TestSilentSendersMakeWay has hundreds send half a body each and then nothing,
// which is more than there is room for, beside bodies that arrive as they should.
func TestSilentSendersMakeWay(t *testing.T) {
	notUnderRace(t)
	t.Parallel()
	for name, address := range map[string]func(i int) netip.Addr{
		"of one address":           func(int) netip.Addr { return foe },
		"of many":                  numbered,
		"of the address of others": func(int) netip.Addr { return friend },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const foes, friends = 400, 300
				c := newCrowd()
				for i := range foes {
					c.send("foe", Sender{Addr: address(i)}, client{chunk: 20_000, chunks: 10, silent: true})
				}
				virtual.Sleep(time.Second)
				for range friends {
					c.send("friend", Sender{Addr: friend}, client{chunk: 5_000, chunks: 4, pause: 50 * time.Millisecond})
					virtual.Sleep(5 * time.Millisecond)
				}
				all := c.wait(t)
				if all["friend"].arrived != friends {
					t.Errorf("of %d bodies that arrive as they should: %+v", friends, all["friend"])
				}
				if all["foe"].arrived != 0 || all["foe"].longest > grace+credit {
					t.Errorf("of the others: %+v", all["foe"])
				}
			})
		})
	}
}

// TestABodyHasToArrive looks at how long slow bodies are waited for.
func TestABodyHasToArrive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of         client
		slow       bool
		from, upTo time.Duration
	}{
		"a little, and nothing":         {client{chunk: 6000, chunks: 1, silent: true}, true, credit, credit + grace},
		"no more than anybody may have": {client{chunk: 1000, chunks: 1, silent: true}, true, time.Hour, 24 * time.Hour},
		"slow but steady":               {client{chunk: 1500, chunks: 12, pause: time.Second}, false, 12 * time.Second, 13 * time.Second},
		"a pause":                       {client{chunk: 10_000, chunks: 3, pause: 3500 * time.Millisecond}, false, 10 * time.Second, 15 * time.Second},
		"for ever":                      {client{chunk: 5_000, chunks: 1000, pause: time.Second}, true, longest, longest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				all := newCrowd()
				all.send("it", Sender{Addr: friend}, c.of)
				got := all.wait(t)["it"]
				if (got.slow == 1) != c.slow || got.longest < c.from || got.longest > c.upTo {
					t.Errorf("got %+v", got)
				}
			})
		})
	}
}

// TestWhoHasRoomLeft fills what strangers may have with bodies that have only just
// begun, none of which would make way for another.
func TestWhoHasRoomLeft(t *testing.T) {
	notUnderRace(t)
	t.Parallel()
	for name, c := range map[string]struct {
		foes func(i int) netip.Addr
		from Sender
		ok   bool
	}{
		"a stranger":                   {numbered, Sender{Addr: friend}, false},
		"a known source":               {numbered, Sender{Addr: friend, Known: true}, true},
		"a known source among them":    {numbered, Sender{Addr: numbered(1), Known: true}, true},
		"a stranger beside one":        {func(int) netip.Addr { return foe }, Sender{Addr: friend}, true},
		"a stranger beside himself":    {func(int) netip.Addr { return friend }, Sender{Addr: friend}, false},
		"a known source beside itself": {func(int) netip.Addr { return friend }, Sender{Addr: friend, Known: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				all := newCrowd()
				for i := range 400 {
					all.send("foe", Sender{Addr: c.foes(i)}, client{chunk: 20_000, chunks: 10, silent: true})
				}
				synctest.Wait()
				all.send("it", c.from, client{chunk: 5_000, chunks: 100})
				if got := all.wait(t)["it"]; (got.arrived == 1) != c.ok {
					t.Errorf("got %+v", got)
				}
			})
		})
	}
}

// TestAConnectionIsNeverLeftWithoutADeadline reads bodies in parts, to their end or
// until they are too long.
func TestAConnectionIsNeverLeftWithoutADeadline(t *testing.T) {
	t.Parallel()
	for name, chunks := range map[string]int{"whole": 4, "too long": 400} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				c := &client{chunk: 5_000, chunks: chunks, deadline: make(chan time.Time, 1000)}
				b := new(Pool).Get()
				if err := b.Receive(request(c, -1), 100_000, Sender{Conn: c}); (err != nil) != (chunks > 20) {
					t.Error(err)
				}
				for len(c.deadline) > 0 {
					c.due = <-c.deadline
				}
				if !c.due.Equal(began.Add(longest)) {
					t.Errorf("left with %s", c.due.Sub(began))
				}
			})
		})
	}
}
