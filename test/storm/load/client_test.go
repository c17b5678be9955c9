package load

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
)

// A batch that was cut off after it had been stored goes out again with the same
// bytes: its calls are offered twice, and may arrive twice.
func TestClientSendsAgain(t *testing.T) {
	t.Parallel()
	b := books.New("run")
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		for _, text := range strings.Split(string(body), `"messageId":"`)[1:] {
			id, _, _ := strings.Cut(text, `"`)
			s, err := books.ParseStamp(id)
			if err != nil {
				t.Error(err)
			}
			b.Arrived(s, time.Now(), func(int) bool { return true })
		}
		if requests.Add(1)%3 == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	c := Client{URL: server.URL, WriteKey: "wk", Producer: "p", Keys: 10, Lanes: 2, Books: b}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if unsent := c.Run(ctx, 500, time.Minute); unsent != 0 {
		t.Errorf("%d calls were not accepted", unsent)
	}
	sum := b.Tally(nil)
	if sum.Sent < 50 || sum.Lost != 0 || sum.Doubled == 0 || sum.Inverted != 0 {
		t.Errorf("books: %+v", sum)
	}
	if n := b.Unasked(); n != 0 {
		t.Errorf("%d arrivals that were not offered", n)
	}
}

func TestClientGivesUp(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	b := books.New("run")
	c := Client{URL: server.URL, WriteKey: "wk", Producer: "p", Keys: 4, Lanes: 2, Books: b}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if unsent := c.Run(ctx, 200, 50*time.Millisecond); unsent == 0 {
		t.Error("every call counts as accepted, though none was")
	}
	if sum := b.Tally(nil); sum.Sent != 0 {
		t.Errorf("books: %+v", sum)
	}
}
