package receiver

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/testkit"
)

func post(ctx context.Context, t *testing.T, url string, sequence int) (int, error) {
	t.Helper()
	stamp := books.Stamp{Run: "r", Producer: "p", Sequence: sequence, At: time.Now()}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(fmt.Sprintf(`{"messageId":%q}`, stamp)))
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, errors.Join(err, resp.Body.Close())
}

func TestReceiverBehaves(t *testing.T) {
	b := books.New("r")
	r, err := New(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Down)
	expect := func(sequence, want int) {
		t.Helper()
		if status, err := post(t.Context(), t, r.URL(), sequence); err != nil || status != want {
			t.Errorf("event %d: %d, %v, expected %d", sequence, status, err, want)
		}
	}
	expect(1, 200)
	r.Behave(Behaviour{FailEvery: 2})
	expect(2, 503)
	expect(2, 200)
	expect(3, 200)

	r.Behave(Behaviour{Hang: true})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if status, err := post(ctx, t, r.URL(), 4); err == nil {
		t.Errorf("a hanging receiver answered %d", status)
	}

	r.Behave(Behaviour{})
	r.Down()
	if status, err := post(t.Context(), t, r.URL(), 5); err == nil {
		t.Errorf("a receiver that is down answered %d", status)
	}
	if err := r.Up(t.Context()); err != nil {
		t.Fatalf("Up: %v", err)
	}
	expect(5, 200)
	if n := r.Attempts(books.Span{To: time.Now()}); n != 6 {
		t.Errorf("%d attempts written down, expected 6", n)
	}
}

// A misbehaviour that a plain client takes for an ordinary answer, or does not
// get an end to, would prove nothing about the sink.
func TestMisbehaviours(t *testing.T) {
	t.Parallel()
	fine := map[string]int{"gzip bomb": 200, "redirect to itself": 302, "keep-alive closed": 200, "length too short": 200, "body without end": 200}
	for _, kind := range Misbehaviours() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			h, err := NewHostile(t.Context(), kind)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			t.Cleanup(h.Close)
			status, err := post(ctx, t, h.URL(), 1)
			testkit.Until(t, func() bool { return h.Requests() == 1 }, "the receiver to see that the sender has gone")
			if want := fine[kind.Name]; (err == nil) != (want != 0) || err == nil && status != want {
				t.Errorf("status %d, %v, expected status %d", status, err, want)
			}
			if h.Longest() == 0 {
				t.Error("the time that the sender bore with it was not written down")
			}
		})
	}
}

func TestBombInflates(t *testing.T) {
	r, err := gzip.NewReader(bytes.NewReader(inflatable()))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, r); err != nil || n != bombed {
		t.Errorf("the bomb becomes %d bytes, %v, expected %d", n, err, bombed)
	}
}
