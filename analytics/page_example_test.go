//go:build go1.26

package analytics_test

import (
	"context"
	"expvar"
	"fmt"
	"log" //nolint:depguard // as small programs do
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/anabranch/anabranch/analytics"
	"github.com/anabranch/anabranch/analytics/analyticshttp"
	"github.com/anabranch/anabranch/analytics/analyticstest"
)

// The programs of this file are those of docs/analytics.md.

func Example_quickStart() { //nolint:testableexamples // nobody listens there
	client := analytics.New("WRITE_KEY")
	client.Endpoint = "https://collect.example.com" // default: http://127.0.0.1:8080, where `anabranch run` listens
	defer client.Close()

	err := client.Track(&analytics.Track{
		UserId:     "019mr8mf4r",
		Event:      "Signed Up",
		Properties: map[string]any{"plan": "Enterprise"},
	})
	if err != nil {
		log.Print(err)
	}
}

func Example_stop() {
	server := newServer()
	defer server.Close()
	client, _ := analytics.NewClient("WRITE_KEY", analytics.WithEndpoint(server.URL))
	save := func([]analytics.Unsent) {}

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	unsent, err := client.CloseContext(ctx)
	if err != nil {
		log.Printf("%v", err) // close analytics client: 12 messages: not sent …: last attempt: status 503
		save(unsent)          // JSON; another client's Enqueue takes each as it is, with its messageId and time
	}

	fmt.Println(len(unsent))
	// Output: 0
}

// requestID and traceID are as a program's own middleware and its tracing have them.
func requestID(ctx context.Context) string { return fmt.Sprint(ctx.Value("request")) }

func traceID(ctx context.Context) string { return fmt.Sprint(ctx.Value("trace")) }

func ExampleWithBeforeEnqueue() {
	server := newServer()
	defer server.Close()
	const key = "WRITE_KEY"
	endpoint := analytics.WithEndpoint(server.URL)

	client, err := analytics.NewClient(key, endpoint, analytics.WithBeforeEnqueue(
		func(ctx context.Context, call analytics.Call) analytics.Call {
			if m, ok := call.(*analytics.Track); ok {
				if m.Event == "Health Checked" {
					return nil // not sent
				}
				m.Properties = maps.Clone(m.Properties) // the map is still the caller's
				delete(m.Properties, "password")
			}
			return analytics.AddContext(call, map[string]any{"requestId": requestID(ctx), "traceId": traceID(ctx)})
		}))
	if err != nil {
		fmt.Println(err)
		return
	}

	//nolint:revive,staticcheck // an example
	ctx := context.WithValue(context.WithValue(context.Background(), "request", "r-1"), "trace", "t-1")
	_ = client.Enqueue(ctx, analytics.Track{UserId: "u1", Event: "Health Checked"})
	_ = client.Enqueue(ctx, analytics.Track{UserId: "u1", Event: "Signed In", Properties: map[string]any{"password": "secret", "method": "form"}})
	_ = client.Close()
	server.print()
	// Output:
	// {"context":{"requestId":"r-1","traceId":"t-1"},"event":"Signed In","properties":{"method":"form"},"type":"track","userId":"u1"}
}

// What the server has refused is kept.
func ExampleOutcome_Unsent() {
	server := newServer()
	defer server.Close()
	server.respond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	key, endpoint := "WRITE_KEY", analytics.WithEndpoint(server.URL)
	keep := func(u analytics.Unsent, _ error) { fmt.Println("kept", u.MessageID) }

	client, err := analytics.NewClient(key, endpoint, analytics.WithCallback(func(o analytics.Outcome) {
		if o.Err != nil {
			keep(o.Unsent(), o.Err)
		}
	}))
	if err != nil {
		fmt.Println(err)
		return
	}

	_ = client.Track(&analytics.Track{UserId: "u1", Event: "Signed Up", MessageId: "m1"})
	_ = client.Close()
	// Output: kept m1
}

// Counts as expvar has them.
func ExampleClient_Stats_expvar() {
	server := newServer()
	defer server.Close()
	client, _ := analytics.NewClient("WRITE_KEY", analytics.WithEndpoint(server.URL))
	defer client.Close()

	expvar.Publish("analytics", expvar.Func(func() any { return client.Stats() }))

	fmt.Println(expvar.Get("analytics"))
	// Output: {"Accepted":0,"Sent":0,"Rejected":0,"Dropped":0,"Expired":0,"Unsent":0,"Refused":0,"Filtered":0,"Requests":0,"Retries":0,"Panics":0,"Queued":0,"QueuedBytes":0,"InFlight":0}
}

func Example_middleware() { //nolint:testableexamples // nobody listens there; the tests of analyticshttp run it
	const key = "WRITE_KEY"
	mux := http.NewServeMux()

	client, err := analytics.NewClient(key, analytics.WithBeforeEnqueue(analyticshttp.Enrich))
	if err != nil {
		log.Fatal(err)
	}
	mux.HandleFunc("POST /orders", func(_ http.ResponseWriter, r *http.Request) {
		_ = client.Enqueue(r.Context(), analytics.Track{UserId: "u1", Event: "Order Placed"})
	})
	handler := analyticshttp.Middleware(mux) // ip, userAgent, locale and page are in the context of the message

	_ = handler
}

// shop is a program that is tested.
type shop struct{ events *analytics.Client }

func (s *shop) Order(user string) error {
	return s.events.Track(&analytics.Track{UserId: user, Event: "Order Placed"})
}

func TestOrder(t *testing.T) {
	recorder := analyticstest.NewRecorder(t)
	s := shop{recorder.Client}
	if err := s.Order("u1"); err != nil {
		t.Fatal(err)
	}
	if got := recorder.Messages(); len(got) != 1 || got[0].Event != "Order Placed" {
		t.Errorf("got %v", got)
	}
}
