//go:build go1.26

package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/upload"
)

// lab is a dispatcher whose server is a function of the test's. It runs in a bubble
// of virtual time, which also fails a test that leaves a goroutine behind.
type lab struct {
	*Dispatcher

	start time.Time

	mu       sync.Mutex
	server   func(ctx context.Context, batch []*queue.Message) upload.Answer
	posts    []post
	outcomes []outcome
}

// post is an attempt.
type post struct {
	at  time.Duration // since the start
	id  string        // of the batch
	ids []string
}

type outcome struct {
	id  string
	err error
}

var taken = upload.Answer{Verdict: upload.Taken}

// down is the answer of a server that can't take a batch.
func down(after time.Duration) upload.Answer {
	return upload.Answer{Verdict: upload.Again, Err: errors.New("status 503"), After: after}
}

func newLab(t *testing.T, change func(*Config)) *lab {
	t.Helper()
	l := &lab{start: time.Now()}
	cfg := Config{
		FlushAt: 20, FlushAfter: 5 * time.Second, BatchMessages: 20, BatchBytes: 500_000,
		MaxMessages: 1000, MaxBytes: 1 << 20, MaxInFlight: 4,
		Post: l.post, Report: l.report, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&cfg)
	}
	l.Dispatcher = New(cfg)
	t.Cleanup(l.halt)
	return l
}

func (l *lab) post(ctx context.Context, id string, batch []*queue.Message) upload.Answer {
	p := post{at: time.Since(l.start), id: id}
	for _, m := range batch {
		p.ids = append(p.ids, m.ID)
	}
	l.mu.Lock()
	l.posts = append(l.posts, p)
	server := l.server
	l.mu.Unlock()
	if server == nil {
		return taken
	}
	return server(ctx, batch)
}

func (l *lab) report(m *queue.Message, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outcomes = append(l.outcomes, outcome{m.ID, err})
}

// respond sets what the server does from now on.
func (l *lab) respond(server func(ctx context.Context, batch []*queue.Message) upload.Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server = server
}

// always answers every attempt alike.
func always(a upload.Answer) func(context.Context, []*queue.Message) upload.Answer {
	return func(context.Context, []*queue.Message) upload.Answer { return a }
}

// hang answers when the attempt is cut.
func hang(ctx context.Context, _ []*queue.Message) upload.Answer {
	<-ctx.Done()
	return upload.Answer{Verdict: upload.Again, Err: ctx.Err()}
}

func (l *lab) attempts() []post {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]post(nil), l.posts...)
}

func (l *lab) told() []outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]outcome(nil), l.outcomes...)
}

// message has a user and a number of bytes.
func message(id, user string, size int) *queue.Message {
	return &queue.Message{ID: id, Type: "track", User: user, JSON: make([]byte, size), Cost: size, At: time.Now()}
}

// put puts messages m<first>… of one user.
func (l *lab) put(t *testing.T, user string, first, count int) {
	t.Helper()
	for i := range count {
		if err := l.Put(t.Context(), message(fmt.Sprintf("m%d", first+i), user, 10)); err != nil {
			t.Fatalf("put m%d: %v", first+i, err)
		}
	}
}

// end closes the dispatcher and expects that all was sent.
func (l *lab) end(t *testing.T) {
	t.Helper()
	if unsent, err := l.Close(t.Context()); err != nil || len(unsent) > 0 {
		t.Errorf("close: %v, %d messages unsent", err, len(unsent))
	}
}

func ids(messages []*queue.Message) []string {
	var list []string
	for _, m := range messages {
		list = append(list, m.ID)
	}
	return list
}
