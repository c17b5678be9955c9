package load

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
)

// senders is how many calls are on their way at once: enough for the rates of
// the bench while each takes some milliseconds.
const senders = 16

// Caller makes calls over HTTP and notes in the books those answered 200.
type Caller struct {
	URL      string // of the collection API's track call, or its batch call
	WriteKey string
	Producer string
	Keys     int
	Books    *books.Books
	// Batch is how many calls it sends at a time, with the key in the body; zero: each
	// by itself, with the key in the header.
	Batch int
	// Senders is how many calls may be on their way at once; zero: 16.
	Senders int
	// Answered is told of each answer, if it is not nil. Calls that got none (the
	// connection broke) have status zero.
	Answered func(Answer)
}

// Answer is what became of one request.
type Answer struct {
	At         time.Time // when it was made
	Took       time.Duration
	Status     int
	RetryAfter string
}

// Run makes calls, or batches of them, at the rate until ctx ends, and returns how
// many calls that were. What fails is not made again: nobody was promised anything
// about it.
func (c *Caller) Run(ctx context.Context, rate int) int {
	n := c.Senders
	if n == 0 {
		n = senders
	}
	client := &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	defer client.CloseIdleConnections()
	stamps := counter{run: c.Books.Run(), producer: c.Producer, keys: c.Keys}
	due := make(chan []books.Stamp, rate)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for calls := range due {
				answer := c.call(client, calls)
				for _, s := range calls {
					if answer.Status == http.StatusOK {
						c.Books.Promised(s)
					}
				}
				if c.Answered != nil {
					c.Answered(answer)
				}
			}
		})
	}
	size := max(1, c.Batch)
	made := Pace(ctx, rate, func() {
		calls := make([]books.Stamp, size)
		for i := range calls {
			calls[i] = stamps.stamp(time.Now())
		}
		due <- calls
	})
	close(due)
	wg.Wait()
	return made * size
}

// call makes one request.
func (c *Caller) call(client *http.Client, calls []books.Stamp) (answer Answer) {
	answer.At = time.Now()
	defer func() { answer.Took = time.Since(answer.At) }()
	req, err := http.NewRequest(http.MethodPost, c.URL, bytes.NewReader(c.body(calls))) //nolint:noctx // bounded by the client's timeout
	if err != nil {
		return answer
	}
	if c.Batch == 0 {
		req.SetBasicAuth(c.WriteKey, "")
	}
	resp, err := client.Do(req)
	if err != nil || resp.Body.Close() != nil {
		return answer
	}
	answer.Status, answer.RetryAfter = resp.StatusCode, resp.Header.Get("Retry-After")
	return answer
}

func (c *Caller) body(calls []books.Stamp) []byte {
	if c.Batch == 0 {
		return event(calls[0])
	}
	batch := batchOf(calls)
	return fmt.Appendf(batch[:len(batch)-1], `,"writeKey":%q}`, c.WriteKey)
}
