package foes

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// server answers 418 to what is HTTP and ends heads that take longer than a
// little.
func server(t *testing.T, headTimeout time.Duration) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}))
	s.Config.ReadHeaderTimeout = headTimeout
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func TestAttack(t *testing.T) {
	t.Parallel()
	addr := server(t, time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	whole := kind{name: "whole", count: 3, perSecond: 1000, text: []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), answers: []int{http.StatusTeapot}}
	broken := kind{name: "broken", count: 1, perSecond: 1000, text: []byte("\x16\x03\r\n\r\n"), answers: []int{http.StatusTeapot}}
	// The slow one never comes to an answer: it is there when all ends.
	slow := kind{name: "slow", count: 1, text: []byte("G"), bound: time.Minute}
	stop := time.AfterFunc(500*time.Millisecond, cancel)
	defer stop.Stop()
	all := attack(ctx, addr, []kind{whole, broken, slow})
	if got := all[0]; got.Kind != "whole" || got.Hits == 0 || got.Hits != got.Answers[http.StatusTeapot] {
		t.Errorf("who is answered as expected: %+v", got)
	}
	if got := all[1]; got.Hits != 0 || got.Answers[http.StatusBadRequest] == 0 {
		t.Errorf("who is answered otherwise: %+v", got)
	}
	if got := all[2]; got.Tries != 1 || got.Hits != 0 || got.Longest == 0 {
		t.Errorf("who is there to the end: %+v", got)
	}
}

func TestDripUntilTheServerHasHadEnough(t *testing.T) {
	t.Parallel()
	k := kind{name: "slow", count: 1, text: []byte("GET / HTTP/1.1\r\nX: "), drips: []byte("aaaa"), bound: 100 * time.Millisecond}
	o := k.once(t.Context(), server(t, k.bound))
	if !o.cut || o.lasted < k.bound || !k.hit(o) {
		t.Errorf("outcome %+v, expected the server to end it after %s", o, k.bound)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	if o := fastKind().once(t.Context(), addr); !o.refused {
		t.Errorf("outcome %+v, expected a connection that was not taken", o)
	}
}
