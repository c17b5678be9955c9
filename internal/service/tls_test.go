package service

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

// certificate returns a server's TLS and that of clients that trust it.
func certificate(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	other := httptest.NewTLSServer(nil)
	other.Close()
	roots := x509.NewCertPool()
	roots.AddCert(other.Certificate())
	return &tls.Config{Certificates: other.TLS.Certificates}, &tls.Config{RootCAs: roots, ServerName: "example.com"}
}

// transport returns one that speaks a version of HTTP and dials with dial.
func transport(t *testing.T, client *tls.Config, major int, dial func(ctx context.Context, network, addr string) (net.Conn, error)) *http.Transport {
	t.Helper()
	var protocols http.Protocols
	protocols.SetHTTP1(major == 1)
	protocols.SetHTTP2(major == 2)
	tr := &http.Transport{TLSClientConfig: client.Clone(), Protocols: &protocols, DialContext: dial}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// encrypted is an HTTPServer with TLS on a real socket.
type encrypted struct {
	addr   string
	client *tls.Config
}

func serveTLS(t *testing.T, handler http.HandlerFunc) *encrypted {
	t.Helper()
	listener, err := Listen(t.Context(), "ADDR", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config, client := certificate(t)
	server := NewHTTPServer("encrypted", listener, handler, slog.New(slog.DiscardHandler))
	server.TLS = config
	server.MaxConnections = 1000
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if len(config.NextProtos) > 0 {
			t.Error("the server has changed the configuration that it was given")
		}
	})
	return &encrypted{server.Addr(), client}
}

func (s *encrypted) speaking(t *testing.T, major int) *http.Client {
	t.Helper()
	return &http.Client{Transport: transport(t, s.client, major, nil)}
}

// post returns the answer as one text, or the error.
func post(client *http.Client, url string, body io.Reader) string {
	resp, err := client.Post(url, "text/plain", body)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(resp.StatusCode, " ", string(text))
}

func TestTLSWithBothVersionsOfHTTP(t *testing.T) {
	s := serveTLS(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, r.Proto, " ", n)
	})
	for major, want := range map[int]string{1: "200 HTTP/1.1 500000", 2: "200 HTTP/2.0 500000"} {
		got := post(s.speaking(t, major), "https://"+s.addr, strings.NewReader(strings.Repeat("x", 500_000)))
		if got != want {
			t.Errorf("HTTP/%d: got %s, want %s", major, got, want)
		}
	}
}

func TestTLSPrefersHTTP2(t *testing.T) {
	s := serveTLS(t, func(http.ResponseWriter, *http.Request) {})
	config := s.client.Clone()
	config.NextProtos = []string{"http/1.1", "h2"}
	conn, err := (&tls.Dialer{Config: config}).DialContext(t.Context(), "tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.(*tls.Conn).ConnectionState().NegotiatedProtocol; got != "h2" {
		t.Errorf("got %q", got)
	}
}

func TestPlainHTTPOnATLSPortIsTold(t *testing.T) {
	s := serveTLS(t, func(http.ResponseWriter, *http.Request) {})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if got := post(client, "http://"+s.addr, nil); !strings.Contains(got, "HTTP request to an HTTPS server") {
		t.Errorf("got %q", got)
	}
}

func TestTheBoundsOfAHeadHoldForHTTP2(t *testing.T) {
	s := serveTLS(t, func(http.ResponseWriter, *http.Request) {})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+s.addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Filler", strings.Repeat("x", 32<<10))
	resp, err := s.speaking(t, 2).Do(r)
	if err != nil {
		// The server may also close the connection: it does not read on.
		if !strings.Contains(err.Error(), "GOAWAY") && !strings.Contains(err.Error(), "header list larger than peer's advertised limit") {
			t.Error(err)
		}
		return
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("got %s", resp.Status)
	}
}

// TestStreamsAreBounded has more requests come at a time than one connection may
// have in hand: the client has to dial again.
func TestStreamsAreBounded(t *testing.T) {
	var mu sync.Mutex
	inHand, all := map[string]int{}, 0 // by connection
	release := make(chan struct{})
	s := serveTLS(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/first" {
			return
		}
		mu.Lock()
		inHand[r.RemoteAddr]++
		all++
		mu.Unlock()
		<-release
	})
	client := s.speaking(t, 2)
	if got := post(client, "https://"+s.addr+"/first", nil); got != "200 " {
		t.Fatal(got) // else each request would dial a connection of its own
	}
	const requests = maxStreams + 20
	var clients sync.WaitGroup
	for range requests {
		clients.Go(func() {
			if got := post(client, "https://"+s.addr, nil); got != "200 " {
				t.Errorf("got %q", got)
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := Wait(ctx, func() error {
		mu.Lock()
		defer mu.Unlock()
		if all < requests {
			return fmt.Errorf("%d in hand", all)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	close(release)
	clients.Wait()
	if most := slices.Max(slices.Collect(maps.Values(inHand))); most != maxStreams {
		t.Errorf("%d requests in hand on one connection, want %d", most, maxStreams)
	}
}

// TestABodyOverHTTP2HasItsTime sends half of a body, in virtual time.
func TestABodyOverHTTP2HasItsTime(t *testing.T) {
	config, trusting := certificate(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		read := make(chan error, 1)
		server := NewHTTPServer("encrypted", p, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, err := io.Copy(io.Discard, r.Body)
			read <- err
		}), slog.New(slog.DiscardHandler))
		server.TLS = config
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- server.Run(ctx) }()

		tr := transport(t, trusting, 2, func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			p.conns <- server
			return client, nil
		})
		half, rest := io.Pipe()
		go io.WriteString(rest, "half")
		began := time.Now()
		go post(&http.Client{Transport: tr}, "https://example.com", half)
		err := <-read
		if took := time.Since(began); err == nil || took != readTimeout {
			t.Errorf("the handler's read ended with %v after %v, want an error after %v", err, took, readTimeout)
		}
		rest.CloseWithError(errors.New("done"))
		tr.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestSlowClientsHaveTheirTime has each hold on to its connection for as long as
// it may.
func TestSlowClientsHaveTheirTime(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want time.Duration
	}{
		"silent":      {"", readHeaderTimeout},
		"half a head": {halfHead, readHeaderTimeout},
		"half a body": {halfBody, readTimeout},
		"idle":        {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", idleTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, 10)
				began := time.Now()
				conn := h.dial()
				go io.WriteString(conn, c.text)
				io.Copy(io.Discard, conn)
				// A body that is late is answered, and then the rest waited for a moment.
				if took := time.Since(began); took < c.want || took > c.want+time.Second {
					t.Errorf("closed after %v, want %v", took, c.want)
				}
			})
		})
	}
}

// TestAGuestCanBeHalfClosed holds what net/http needs to end an answer that it
// gives before it has the whole request.
func TestAGuestCanBeHalfClosed(t *testing.T) {
	listener, err := Listen(t.Context(), "ADDR", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := limitConnections(listener, 1, nil, nil).Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if err = server.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(client)
	if len(text) > 0 || err != nil {
		t.Errorf("the client read %q, %v, want the end", text, err)
	}
	go io.WriteString(client, "more")
	text = make([]byte, 4)
	if _, err = io.ReadFull(server, text); err != nil || string(text) != "more" {
		t.Errorf("the server read %q, %v", text, err)
	}
}

// TestAConnectionWithManyRequestsGoesLast has one over HTTP/2 with a request in
// hand for long: it may be a proxy's, with those of many clients.
func TestAConnectionWithManyRequestsGoesLast(t *testing.T) {
	config, trusting := certificate(t)
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 2, func(s *HTTPServer) { s.TLS = config })
		dial := func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			h.conns <- server
			return client, nil
		}
		many := &http.Client{Transport: transport(t, trusting, 2, dial)}
		idle := &http.Client{Transport: transport(t, trusting, 1, dial)}
		if got := post(many, "https://example.com/", nil); got != "200 " {
			t.Fatal(got)
		}
		answer := make(chan string, 2)
		for range 2 {
			go func() { answer <- post(many, "https://example.com/wait", nil) }()
			synctest.Wait()
		}
		if got := post(idle, "https://example.com/", nil); got != "200 " {
			t.Fatal(got)
		}
		virtual.Sleep(longIdle)
		defer h.dial().Close() // has the idle one closed
		if got := h.shed.Load(); got != 1 {
			t.Errorf("%d were closed, want 1", got)
		}
		h.handed <- struct{}{}
		if got := <-answer; got != "200 " {
			t.Errorf("the first request got %s", got)
		}
		defer h.dial().Close() // nobody else is left to go
		if got := <-answer; !strings.Contains(got, "EOF") && !strings.Contains(got, "closed") {
			t.Errorf("the second request got %s, want its connection closed", got)
		}
		close(h.handed)
	})
}
