package ingest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

// conversation is a connection that is written and read by hand.
type conversation struct {
	net.Conn
	*bufio.Reader
}

func (s *stage) dial(t *testing.T) conversation {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conversation{conn, bufio.NewReader(conn)}
}

// read returns the next response, of which an interim one is one.
func (c conversation) read(t *testing.T, sent string) reply {
	t.Helper()
	resp, err := http.ReadResponse(c.Reader, &http.Request{Method: sent})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, string(text), resp.Header}
}

// TestExpectContinue has a client ask before it sends the body: it is told to go
// on when the key is good, and is spared it when there is nothing to be had.
func TestExpectContinue(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	const head = "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n"
	good := s.dial(t)
	fmt.Fprintf(good.Conn, head, "/v1/identify", basicAuth, len(oneCall))
	if a := good.read(t, http.MethodPost); a.status != http.StatusContinue {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	fmt.Fprint(good.Conn, oneCall)
	if a := good.read(t, http.MethodPost); a.status != http.StatusOK || a.body != success {
		t.Errorf("got %d %s", a.status, a.body)
	}
	for name, c := range map[string]struct {
		path, key string
		length    int
		status    int
	}{
		"a wrong key":       {"/v1/identify", "Basic d3Jvbmc6", len(oneCall), 401},
		"no such path":      {"/v1/identity", basicAuth, len(oneCall), 404},
		"a body too large":  {"/v1/identify", basicAuth, 32_769, 400},
		"a batch too large": {"/v1/b", basicAuth, 512_001, 413},
	} {
		bad := s.dial(t)
		fmt.Fprintf(bad.Conn, head, c.path, c.key, c.length)
		if a := bad.read(t, http.MethodPost); a.status != c.status {
			t.Errorf("%s: got %d %s", name, a.status, a.body)
		}
	}
	s.stored(t, 1)
}

// TestAConnectionServesManyRequests sends requests of every kind behind each
// other without waiting, as a proxy does.
func TestAConnectionServesManyRequests(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	c := s.dial(t)
	steps := []struct {
		method, path, body string
		status             int
	}{
		{"OPTIONS", "/v1/i", "", 204},
		{"POST", "/v1/i", oneCall, 200},
		{"HEAD", "/v1/i", "", 405},
		{"POST", "/v1/m", strings.Repeat("x", 10_000), 200},
		{"GET", "/v1/i", "", 405},
		{"POST", "/v1/i", "{", 400},
		{"POST", "/v1/i", compress(oneCall), 200},
		{"POST", "/nowhere", oneCall, 404},
		{"POST", "/v1/i", oneCall, 200},
	}
	for _, r := range steps {
		fmt.Fprintf(c.Conn, "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Length: %d\r\n\r\n%s", r.method, r.path, basicAuth, len(r.body), r.body)
	}
	for i, r := range steps {
		if a := c.read(t, r.method); a.status != r.status {
			t.Errorf("%d, %s %s: got %d %s, want %d", i, r.method, r.path, a.status, a.body, r.status)
		}
	}
	s.stored(t, 3)
}
