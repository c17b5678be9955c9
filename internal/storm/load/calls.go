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
}

// Run makes calls at the rate until ctx ends, and returns how many. A call that
// fails is not made again: nobody was promised anything about it.
func (c *Caller) Run(ctx context.Context, rate int) int {
	client := &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	defer client.CloseIdleConnections()
	stamps := counter{run: c.Books.Run(), producer: c.Producer, keys: c.Keys}
	due := make(chan books.Stamp, rate)
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			for s := range due {
				if c.call(client, s) {
					c.Books.Promised(s)
				}
			}
		})
	}
	n := pace(ctx, rate, func() { due <- stamps.stamp(time.Now()) })
	close(due)
	wg.Wait()
	return n
}

// call makes one call and reports whether it was accepted.
func (c *Caller) call(client *http.Client, s books.Stamp) bool {
	req, err := http.NewRequest(http.MethodPost, c.URL, bytes.NewReader(event(s))) //nolint:noctx // bounded by the client's timeout
	if err != nil {
		return false
	}
	req.SetBasicAuth(c.WriteKey, "")
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}
