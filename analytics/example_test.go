//go:build go1.26

package analytics_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/anabranch/anabranch/analytics"
)

func ExampleNewClient() {
	server := newServer()
	defer server.Close()

	client, err := analytics.NewClient("WRITE_KEY",
		analytics.WithEndpoint(server.URL),
		analytics.WithFlushAt(100),
		analytics.WithFlushAfter(time.Second),
		analytics.WithQueue(10_000, 16<<20),
		analytics.WhenFull(analytics.DropOldest),
		analytics.WithMaxInFlight(4),
		analytics.WithRequestTimeout(20*time.Second),
		analytics.WithCloseTimeout(10*time.Second),
		analytics.WithHTTPClient(&http.Client{}),
		analytics.WithContext(map[string]any{"app": map[string]any{"name": "shop"}}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	fmt.Println(client.FlushAt, client.FlushAfter)

	_, err = analytics.NewClient("WRITE_KEY", analytics.WithFlushAt(0))
	fmt.Println(err)
	// Output:
	// 100 1s
	// analytics: WithFlushAt is 0, want at least 1 and at most 2500
}

func ExampleClient_Enqueue() {
	server := newServer()
	defer server.Close()

	client, _ := analytics.NewClient("WRITE_KEY", analytics.WithEndpoint(server.URL))
	defer client.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := client.Enqueue(ctx, analytics.Track{
		UserId: "u1", Event: "Order Completed",
		Properties: map[string]any{"total": 149.95},
	})
	fmt.Println(err)

	err = client.Enqueue(ctx, analytics.Track{UserId: "u1"})
	var missing *analytics.MissingFieldError
	fmt.Println(errors.As(err, &missing), missing.Field)

	err = client.Enqueue(ctx, analytics.Track{
		UserId: "u1", Event: "Order Completed",
		Properties: map[string]any{"items": []any{map[string]any{"price": func() {}}}},
	})
	fmt.Println(err)
	// Output:
	// <nil>
	// true event
	// track: encode properties.items[0].price: json: unsupported type: func()
}

func ExampleClient_Flush() {
	server := newServer()
	defer server.Close()

	client, _ := analytics.NewClient("WRITE_KEY", analytics.WithEndpoint(server.URL))
	defer client.Close()
	_ = client.Track(&analytics.Track{UserId: "u1", Event: "Job Done"})

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	fmt.Println(client.Flush(ctx), len(server.messages()))
	// Output: <nil> 1
}

func ExampleClient_Close() {
	server := newServer()
	defer server.Close()

	client := analytics.New("WRITE_KEY")
	client.Endpoint = server.URL
	_ = client.Track(&analytics.Track{UserId: "u1", Event: "Last"})
	fmt.Println(client.Close(), len(server.messages()))
	fmt.Println(client.Close())
	fmt.Println(client.Track(&analytics.Track{UserId: "u1", Event: "Too late"}))
	// Output:
	// <nil> 1
	// the client is closed
	// the client is closed
}

// What an outage kept from being sent is kept, and sent by another client.
func ExampleClient_CloseContext() {
	server := newServer()
	defer server.Close()
	server.respond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })

	client, _ := analytics.NewClient("WRITE_KEY", analytics.WithEndpoint(server.URL), analytics.WithLogger(slog.New(slog.DiscardHandler)))
	_ = client.Track(&analytics.Track{UserId: "u1", Event: "First", MessageId: "m1"})
	_ = client.Track(&analytics.Track{UserId: "u1", Event: "Second", MessageId: "m2"})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	unsent, err := client.CloseContext(ctx)
	fmt.Println(err)

	server.respond(nil)
	next, _ := analytics.NewClient("WRITE_KEY", analytics.WithEndpoint(server.URL))
	for _, message := range unsent {
		if err := next.Enqueue(context.Background(), message); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(next.Close())
	last := server.got()[len(server.got())-1]
	for _, m := range last.batch {
		fmt.Println(m["messageId"], m["event"])
	}
	// Output:
	// close analytics client: 2 messages: not sent before the client was closed: last attempt: status 503
	// <nil>
	// m1 First
	// m2 Second
}

func ExampleWithCallback() {
	server := newServer()
	defer server.Close()
	server.respond(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"success":true,"rejected":[{"index":1,"messageId":"m2","code":"event_not_string","message":"…"}]}`)
	})

	client, _ := analytics.NewClient("WRITE_KEY",
		analytics.WithEndpoint(server.URL),
		analytics.WithLogger(slog.New(slog.DiscardHandler)),
		analytics.WithCallback(func(o analytics.Outcome) {
			var refused *analytics.RefusedError
			switch {
			case o.Err == nil:
				fmt.Println(o.MessageID, "sent")
			case errors.As(o.Err, &refused):
				fmt.Println(o.MessageID, "refused:", refused.Code, refused.Alone)
			}
		}),
	)
	_ = client.Track(&analytics.Track{UserId: "u1", Event: "One", MessageId: "m1"})
	_ = client.Track(&analytics.Track{UserId: "u1", Event: "Two", MessageId: "m2"})
	_ = client.Close()
	// Output:
	// m1 sent
	// m2 refused: event_not_string true
}

func ExampleClient_Stats() {
	server := newServer()
	defer server.Close()

	client, _ := analytics.NewClient("WRITE_KEY", analytics.WithEndpoint(server.URL))
	for range 3 {
		_ = client.Track(&analytics.Track{UserId: "u1", Event: "Clicked"})
	}
	fmt.Println(client.Stats().Queued)
	_ = client.Close()
	s := client.Stats()
	fmt.Println(s.Accepted, s.Sent, s.Queued, s.Requests)
	// Output:
	// 3
	// 3 3 0 1
}

func ExampleWhenFull() {
	client, _ := analytics.NewClient("WRITE_KEY",
		analytics.WithEndpoint("http://127.0.0.1:1"), // nobody listens there
		analytics.WithLogger(slog.New(slog.DiscardHandler)),
		analytics.WithQueue(1, 1<<20),
		analytics.WhenFull(analytics.Refuse),
	)
	fmt.Println(client.Track(&analytics.Track{UserId: "u1", Event: "One"}))
	fmt.Println(client.Track(&analytics.Track{UserId: "u1", Event: "Two"}))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	unsent, _ := client.CloseContext(ctx)
	fmt.Println(len(unsent))
	// Output:
	// <nil>
	// the queue is full
	// 1
}

func ExampleWithLogger() {
	server := newServer()
	defer server.Close()

	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "endpoint" {
				return slog.Attr{}
			}
			return a
		},
	})
	client, _ := analytics.NewClient("WRITE_KEY", analytics.WithEndpoint(server.URL), analytics.WithLogger(slog.New(handler)))
	_ = client.Track(&analytics.Track{UserId: "u1", Event: "Clicked", MessageId: "m1"})
	_ = client.Close()
	// Output:
	// level=DEBUG msg="sending to the endpoint" flush_at=20 flush_after=5s
	// level=DEBUG msg=call type=track message_id=m1 bytes=104
	// level=DEBUG msg="batch sent" messages=1
}
