package load

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
)

const (
	// batchSize is what the SDKs of the family send at a time unless told.
	batchSize = 20
	// The pauses between two tries of a batch; SDKs double theirs.
	firstPause, longestPause = 100 * time.Millisecond, 2 * time.Second
)

// Client sends calls in batches and each batch again, byte for byte, until it is
// answered 200, as an SDK does that is never stopped. Each user is one lane's,
// and a lane sends one batch at a time: users keep their order.
type Client struct {
	URL      string // of the collection API's batch call
	WriteKey string
	Producer string
	Keys     int
	Lanes    int
	Books    *books.Books
}

// Run makes calls at the rate until ctx ends, then sends what is left for at most
// patience, and returns how many it was not told to be accepted.
func (c *Client) Run(ctx context.Context, rate int, patience time.Duration) (unsent int) {
	stamps := counter{run: c.Books.Run(), producer: c.Producer, keys: c.Keys}
	lanes := make([]chan books.Stamp, c.Lanes)
	late, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	client := &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: c.Lanes}}
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	left := make([]int, c.Lanes)
	for i := range lanes {
		// As long as the load of a minute in which nothing is accepted.
		lanes[i] = make(chan books.Stamp, max(batchSize, 60*rate/c.Lanes))
		wg.Go(func() { left[i] = c.lane(late, client, lanes[i]) })
	}
	Pace(ctx, rate, func() {
		s := stamps.stamp(time.Now())
		lanes[s.Key%c.Lanes] <- s
	})
	for _, lane := range lanes {
		close(lane)
	}
	timer := time.AfterFunc(patience, giveUp)
	defer timer.Stop()
	wg.Wait()
	for _, n := range left {
		unsent += n
	}
	return unsent
}

// lane sends what comes, in order, and returns how much of it was not accepted
// when ctx ended.
func (c *Client) lane(ctx context.Context, client *http.Client, due <-chan books.Stamp) (unsent int) {
	for s := range due {
		batch := gather(s, due)
		if !c.deliver(ctx, client, batch) {
			unsent += len(batch)
		}
	}
	return unsent
}

// gather takes what else is due at once, up to a batch.
func gather(first books.Stamp, due <-chan books.Stamp) []books.Stamp {
	batch := []books.Stamp{first}
	for len(batch) < batchSize {
		select {
		case s, more := <-due:
			if !more {
				return batch
			}
			batch = append(batch, s)
		default:
			return batch
		}
	}
	return batch
}

// deliver sends a batch until it is accepted or ctx ends.
func (c *Client) deliver(ctx context.Context, client *http.Client, batch []books.Stamp) bool {
	body := batchOf(batch)
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		for _, s := range batch {
			c.Books.Offered(s)
		}
		accepted, rest := c.send(client, body)
		if accepted {
			for _, s := range batch {
				c.Books.Promised(s)
			}
			return true
		}
		select {
		case <-ctx.Done():
		case <-time.After(max(pause, rest)):
		}
	}
	return false
}

// send makes one request. When it was not accepted, rest is for how long the
// server asked to be left alone.
func (c *Client) send(client *http.Client, body []byte) (accepted bool, rest time.Duration) {
	req, err := http.NewRequest(http.MethodPost, c.URL, bytes.NewReader(body)) //nolint:noctx // bounded by the client's timeout
	if err != nil {
		return false, 0
	}
	req.SetBasicAuth(c.WriteKey, "")
	resp, err := client.Do(req)
	if err != nil {
		return false, 0
	}
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // zero when there is none
	closed := resp.Body.Close() == nil
	return closed && resp.StatusCode == http.StatusOK, time.Duration(seconds) * time.Second
}

func batchOf(batch []books.Stamp) []byte {
	body := []byte(`{"batch":[`)
	for i, s := range batch {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, event(s)...)
	}
	return append(body, "]}"...)
}
