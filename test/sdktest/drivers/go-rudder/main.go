// Command go-rudder makes the calls of the scenario with version 4 of
// RudderStack's analytics-go.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/rudderlabs/analytics-go/v4"
)

// settled counts the messages that are neither sent nor given up.
type settled struct {
	sync.WaitGroup

	mu    sync.Mutex
	lost  int
	cause error // of the last one that was lost
}

// Success implements [analytics.Callback].
func (s *settled) Success(analytics.Message) { s.Done() }

// Failure implements [analytics.Callback].
func (s *settled) Failure(_ analytics.Message, err error) {
	s.mu.Lock()
	s.lost, s.cause = s.lost+1, err
	s.mu.Unlock()
	s.Done()
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
	var all settled
	size := 0 // the client's own
	if os.Getenv("MODE") == "each" {
		size = 1
	}
	// snippet:begin
	client, err := analytics.NewWithConfig(os.Getenv("WRITE_KEY"), analytics.Config{
		DataPlaneUrl: os.Getenv("ENDPOINT"),
		Callback:     &all, BatchSize: size, DisableGzip: os.Getenv("GZIP") == "off", // test only
	})
	// snippet:end
	if err != nil {
		return err
	}
	for _, call := range calls {
		message, err := decode(call)
		if err != nil {
			return err
		}
		all.Add(1)
		if err = client.Enqueue(message); err != nil {
			return err
		}
	}
	if os.Getenv("MODE") != "exit" {
		// Close drops what waits for another try.
		all.Wait()
	}
	if err = client.Close(); err != nil {
		return err
	}
	all.Wait()
	if all.lost > 0 {
		return fmt.Errorf("%d messages given up: %w", all.lost, all.cause)
	}
	return nil
}

// decode makes a message of a call. Its members have the names of the scenario's,
// but for the time.
func decode(call json.RawMessage) (analytics.Message, error) {
	var common struct {
		Type         string                 `json:"type"`
		Context      map[string]any         `json:"context"`
		Integrations analytics.Integrations `json:"integrations"`
		Timestamp    time.Time              `json:"timestamp"`
	}
	if err := json.Unmarshal(call, &common); err != nil {
		return nil, err
	}
	context, err := full(common.Context)
	if err != nil {
		return nil, err
	}
	switch common.Type {
	case "identify":
		var m analytics.Identify
		err = json.Unmarshal(call, &m)
		m.Context, m.Integrations, m.OriginalTimestamp = context, common.Integrations, common.Timestamp
		return m, err
	case "track":
		var m analytics.Track
		err = json.Unmarshal(call, &m)
		m.Context, m.Integrations, m.OriginalTimestamp = context, common.Integrations, common.Timestamp
		return m, err
	case "page":
		var m analytics.Page
		err = json.Unmarshal(call, &m)
		m.Context, m.Integrations, m.OriginalTimestamp = context, common.Integrations, common.Timestamp
		return m, err
	case "screen":
		var m analytics.Screen
		err = json.Unmarshal(call, &m)
		m.Context, m.Integrations, m.OriginalTimestamp = context, common.Integrations, common.Timestamp
		return m, err
	case "group":
		var m analytics.Group
		err = json.Unmarshal(call, &m)
		m.Context, m.Integrations, m.OriginalTimestamp = context, common.Integrations, common.Timestamp
		return m, err
	case "alias":
		var m analytics.Alias
		err = json.Unmarshal(call, &m)
		m.Context, m.Integrations, m.OriginalTimestamp = context, common.Integrations, common.Timestamp
		return m, err
	}
	return nil, fmt.Errorf("the client has no %s", common.Type)
}

// full puts what the client has fields for there, and the rest into its Extra.
func full(given map[string]any) (*analytics.Context, error) {
	if given == nil {
		return nil, nil
	}
	text, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	context := new(analytics.Context)
	if err = json.Unmarshal(text, context); err != nil {
		return nil, err
	}
	known := map[string]any{}
	if text, err = json.Marshal(context); err != nil {
		return nil, err
	}
	if err = json.Unmarshal(text, &known); err != nil {
		return nil, err
	}
	context.Extra = map[string]any{}
	for key, value := range given {
		if _, ok := known[key]; !ok {
			context.Extra[key] = value
		}
	}
	return context, nil
}
