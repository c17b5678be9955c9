package analyticstest

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/anabranch/anabranch/analytics"
)

// Server is a collection endpoint on a port of its own. It takes any write key.
type Server struct {
	*Inbox

	URL string // for WithEndpoint, or the field Endpoint
}

// NewServer starts a server that runs until the test ends.
func NewServer(tb testing.TB) *Server {
	tb.Helper()
	inbox := newInbox(tb)
	server := httptest.NewServer(inbox)
	tb.Cleanup(server.Close)
	return &Server{Inbox: inbox, URL: server.URL}
}

// Recorder is a client whose messages go no further than to the test. It needs no
// network, so that it works in the bubble of a testing/synctest too.
type Recorder struct {
	*Inbox

	Client *analytics.Client // for the code that is tested
}

// NewRecorder makes a client, with options, that is closed when the test ends.
func NewRecorder(tb testing.TB, options ...analytics.Option) *Recorder {
	tb.Helper()
	inbox := newInbox(tb)
	return &Recorder{Inbox: inbox, Client: client(tb, inbox, options)}
}

// Messages returns what the client was given so far, as far as it was not answered with
// a failure.
func (r *Recorder) Messages() []Message {
	r.tb.Helper()
	if !r.failing() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.Client.Flush(ctx); err != nil {
			r.tb.Fatalf("analyticstest: %v", err)
		}
	}
	return r.Inbox.Messages()
}

// Discard returns a client that checks what it is given, and sends it nowhere. It is
// closed when the test ends.
func Discard(tb testing.TB) *analytics.Client {
	tb.Helper()
	return client(tb, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }), nil)
}

func client(tb testing.TB, handler http.Handler, options []analytics.Option) *analytics.Client {
	tb.Helper()
	options = append([]analytics.Option{
		analytics.WithFlushAt(1), // nobody waits for a batch
		analytics.WithHTTPClient(&http.Client{Transport: memory{handler}}),
		analytics.WithLogger(slog.New(slog.NewTextHandler(testLog{tb}, nil))),
	}, options...)
	c, err := analytics.NewClient("test", options...)
	if err != nil {
		tb.Fatalf("analyticstest: %v", err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// testLog writes to the log of a test.
type testLog struct{ tb testing.TB }

func (l testLog) Write(line []byte) (int, error) {
	l.tb.Helper()
	l.tb.Logf("%s", bytes.TrimRight(line, "\n"))
	return len(line), nil
}

// memory has a handler answer requests without a network.
type memory struct{ handler http.Handler }

func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	m.handler.ServeHTTP(answer, r)
	response := answer.Result()
	response.Request = r
	return response, nil
}
