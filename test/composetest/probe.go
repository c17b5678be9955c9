package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// awaitKey waits until the collection API knows the write key, which means that the
// workspace is in force there. The call is none of the test's.
func awaitKey(ctx context.Context, collect string) error {
	client := &http.Client{Timeout: 15 * time.Second}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		status, err := call(ctx, client, collect)
		if err == nil && status == http.StatusOK {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for the workspace: %w: the last call was answered %d, %v", context.Cause(ctx), status, err) //nolint:errorlint // one cause is enough to unwrap
		}
	}
}

func call(ctx context.Context, client *http.Client, collect string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, collect+"/v1/track", strings.NewReader(`{"userId":"probe","event":"Probe"}`)) //nolint:gosec // the address that the user gave
	if err != nil {
		return 0, err
	}
	req.SetBasicAuth(writeKey, "")
	resp, err := client.Do(req) //nolint:gosec // as above
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
