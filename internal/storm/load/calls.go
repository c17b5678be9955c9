package load

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/storm/books"
)

// senders is how many calls are on their way at once: enough for the rates of
// the bench while each takes some milliseconds.
const senders = 16

// Caller makes calls over HTTP and notes in the books those answered 200.
type Caller struct {
	URL      string // of the collection API's track call
	WriteKey string
	Producer string
	Keys     int
	Books    *books.Books
	// Senders is how many calls may be on their way at once; zero: 16.
	Senders int
	// Answered is told of each answer, if it is not nil. Calls that got none (the
	// connection broke) have status zero.
	Answered func(Answer)
}

// Answer is what became of one call.
type Answer struct {
	At         time.Time // when the call was made
	Took       time.Duration
	Status     int
	RetryAfter string
}

// Run makes calls at the rate until ctx ends, and returns how many. A call that
// fails is not made again: nobody was promised anything about it.
func (c *Caller) Run(ctx context.Context, rate int) int {
	n := c.Senders
	if n == 0 {
		n = senders
	}
	client := &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	defer client.CloseIdleConnections()
	stamps := counter{run: c.Books.Run(), producer: c.Producer, keys: c.Keys}
	due := make(chan books.Stamp, rate)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for s := range due {
				answer := c.call(client, s)
				if answer.Status == http.StatusOK {
					c.Books.Promised(s)
				}
				if c.Answered != nil {
					c.Answered(answer)
				}
			}
		})
	}
	made := pace(ctx, rate, func() { due <- stamps.stamp(time.Now()) })
	close(due)
	wg.Wait()
	return made
}

// call makes one call.
func (c *Caller) call(client *http.Client, s books.Stamp) (answer Answer) {
	answer.At = time.Now()
	defer func() { answer.Took = time.Since(answer.At) }()
	req, err := http.NewRequest(http.MethodPost, c.URL, bytes.NewReader(event(s))) //nolint:noctx // bounded by the client's timeout
	if err != nil {
		return answer
	}
	req.SetBasicAuth(c.WriteKey, "")
	resp, err := client.Do(req)
	if err != nil || resp.Body.Close() != nil {
		return answer
	}
	answer.Status, answer.RetryAfter = resp.StatusCode, resp.Header.Get("Retry-After")
	return answer
}
