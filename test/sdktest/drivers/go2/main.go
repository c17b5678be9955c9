// Command go2 makes the calls of the scenario with version 2 of analytics-go.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"sync"

	"github.com/segmentio/analytics-go"
)

// errors collects what the client says: it reports a batch that it gives up to
// its log alone.
type errors struct{ count int }

func (e *errors) Write(text []byte) (int, error) {
	e.count++
	return os.Stderr.Write(text)
}

// accepted counts the requests that were accepted.
type accepted struct{ left sync.WaitGroup }

func (a *accepted) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && resp.StatusCode == http.StatusOK {
		a.left.Done()
	}
	return resp, err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	text, err := os.ReadFile(os.Getenv("SCENARIO"))
	if err != nil {
		return err
	}
	var calls []json.RawMessage
	if err = json.Unmarshal(text, &calls); err != nil {
		return err
	}
	var said errors
	// snippet:begin
	client := analytics.New(os.Getenv("WRITE_KEY"))
	client.Endpoint = os.Getenv("ENDPOINT")
	// snippet:end
	client.Logger = log.New(&said, "", 0)
	each := &accepted{}
	if os.Getenv("MODE") == "each" {
		client.Size = 1
		client.Client.Transport = each
		each.left.Add(len(calls))
	}
	for _, call := range calls {
		if err = queue(client, call); err != nil {
			return err
		}
	}
	// Close would put all that is queued into one request.
	each.left.Wait()
	if err = client.Close(); err != nil {
		return err
	}
	if said.count > 0 {
		return fmt.Errorf("%d requests went wrong", said.count)
	}
	return nil
}

// queue hands one call to the client. The members of the client's messages have
// the names of the scenario's, but for the properties of a page, which the client
// calls traits and sends as properties.
func queue(client *analytics.Client, call json.RawMessage) error {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(call, &kind); err != nil {
		return err
	}
	switch kind.Type {
	case "identify":
		return decoded(call, client.Identify)
	case "track":
		return decoded(call, client.Track)
	case "page":
		return decoded(call, client.Page)
	case "group":
		return decoded(call, client.Group)
	case "alias":
		return decoded(call, client.Alias)
	}
	return fmt.Errorf("the client has no %s", kind.Type)
}

func decoded[T any](call json.RawMessage, send func(*T) error) error {
	message := new(T)
	if err := json.Unmarshal(call, message); err != nil {
		return err
	}
	return send(message)
}
