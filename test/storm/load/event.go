package load

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
)

// filler brings an event to about a kilobyte, the size that the product is
// measured with.
var filler = strings.Repeat("storm ", 130)

// event is a call in canonical form, which is good for ingest too.
func event(s books.Stamp) []byte {
	return fmt.Appendf(nil, `{"messageId":%q,"type":"track","userId":%q,"event":"Storm","properties":{"n":%d,"text":%q},"timestamp":%q}`,
		s, user(s), s.Sequence, filler, s.At.UTC().Format("2006-01-02T15:04:05.000Z"))
}

func user(s books.Stamp) string { return "u" + strconv.Itoa(s.Key) }

// counter makes the stamps of one producer. It may be used by many goroutines.
type counter struct {
	run, producer string
	keys          int
	among         []int // the users, instead of so many

	mu   sync.Mutex
	next int
}

func (c *counter) stamp(now time.Time) books.Stamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := books.Stamp{Run: c.run, Producer: c.producer, Key: c.key(), Sequence: c.next, At: now}
	c.next++
	return s
}

func (c *counter) key() int {
	if len(c.among) > 0 {
		return c.among[c.next%len(c.among)]
	}
	return c.next % c.keys
}
