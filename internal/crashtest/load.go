package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const senders = 16

// send makes calls at the plan's rate until ctx ends, writes down which were
// answered 200, and returns how many it made. A call that fails is not sent
// again: nobody was promised anything about it.
func send(ctx context.Context, p plan, url string, accepted *books) int {
	client := &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	due := make(chan int, p.rate)
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			for n := range due {
				id := fmt.Sprintf("crash-%d-%d", p.seed, n)
				if call(client, url, id, n) {
					accepted.note(id)
				}
			}
		})
	}
	n := 0
	tick := time.NewTicker(time.Second / time.Duration(p.rate))
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
			n++
			due <- n
		case <-ctx.Done():
		}
	}
	close(due)
	wg.Wait()
	return n
}

// call sends one event and reports whether it was accepted.
func call(client *http.Client, url, id string, n int) bool {
	body := fmt.Appendf(nil, `{"userId":"u%d","event":"Crash","messageId":%q,"properties":{"n":%d}}`, n%101, id, n)
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body)) //nolint:noctx // bounded by the client's timeout
	if err != nil {
		return false
	}
	req.SetBasicAuth(writeKey, "")
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}
