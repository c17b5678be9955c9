package service_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/service"
)

// served is an HTTPServer that runs.
type served struct {
	url    string
	addr   string
	cancel context.CancelFunc
	result chan error
}

func serve(t *testing.T, log *slog.Logger, grace time.Duration, handler http.HandlerFunc) *served {
	t.Helper()
	ln, err := service.Listen(t.Context(), "ADMIN_ADDR", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := service.NewHTTPServer("admin", ln, handler, log)
	if grace > 0 {
		server.Grace = grace
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	s := &served{url: "http://" + server.Addr(), addr: server.Addr(), cancel: cancel, result: make(chan error, 1)}
	go func() { s.result <- server.Run(ctx) }()
	return s
}

// get answers the status and body, or the error, of a GET on a connection of its own.
func (s *served) get(t *testing.T) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	resp, err := client.Get(s.url)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, body)
}

func TestHTTPServerFinishesWhatWasBegun(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	s := serve(t, quiet(), 0, func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-finish
		if err := r.Context().Err(); err != nil {
			t.Errorf("request's context ended with the server's: %v", err)
		}
		io.WriteString(w, "done")
	})
	answer := make(chan string, 1)
	go func() { answer <- s.get(t) }()
	<-begun
	s.cancel()
	// The listener closes first: once nobody is accepted any more, the stop is under way.
	err := service.Wait(t.Context(), func() error {
		if conn, err := net.Dial("tcp", s.addr); err == nil {
			conn.Close()
			return errors.New("still accepting")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	close(finish)
	if got := <-answer; got != "200 done" {
		t.Errorf("answer to the request in hand = %q, want 200 done", got)
	}
	if err := <-s.result; err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
}

func TestHTTPServerCutsOffAfterGrace(t *testing.T) {
	begun := make(chan struct{})
	logged := &journal{}
	s := serve(t, logged.logger(slog.LevelWarn), 50*time.Millisecond, func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done() // only the close of the connection ends it
	})
	answer := make(chan string, 1)
	go func() { answer <- s.get(t) }()
	<-begun
	s.cancel()
	if err := <-s.result; err != nil {
		t.Errorf("Run = %v, want nil: a client that hangs is not a failure of the server", err)
	}
	if got := <-answer; !strings.Contains(got, "EOF") {
		t.Errorf("answer = %q, want a closed connection", got)
	}
	if lines := logged.all(); len(lines) != 1 || !strings.Contains(lines[0], "requests cut off") {
		t.Errorf("log = %q, want one line about the cut", lines)
	}
}

func TestHTTPServerFailsWithItsListener(t *testing.T) {
	ln, err := service.Listen(t.Context(), "ADMIN_ADDR", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	server := service.NewHTTPServer("admin", ln, http.NotFoundHandler(), quiet())
	if got := server.Name(); got != "admin" {
		t.Errorf("Name = %q", got)
	}
	if err := server.Run(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Run = %v, want %v", err, net.ErrClosed)
	}
}

func TestHTTPServerBoundsTheHead(t *testing.T) {
	s := serve(t, quiet(), 0, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\nX-Filler: %s\r\n\r\n", strings.Repeat("x", 32<<10))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status = %d, want 431 for 32 KiB of head", resp.StatusCode)
	}
}

func TestHTTPServerLogsPanicsAsErrors(t *testing.T) {
	logged := &journal{}
	s := serve(t, logged.logger(slog.LevelInfo), 0, func(http.ResponseWriter, *http.Request) { panic("a bug") })
	s.get(t)
	s.cancel()
	<-s.result
	lines := strings.Join(logged.all(), "")
	if !strings.Contains(lines, "level=ERROR") || !strings.Contains(lines, "a bug") {
		t.Errorf("log = %q, want the panic at error level", lines)
	}
}

func TestHTTPServerKeepsClientNoiseOutOfTheLog(t *testing.T) {
	for level, want := range map[slog.Level]bool{slog.LevelInfo: false, slog.LevelDebug: true} {
		logged := &journal{}
		s := serve(t, logged.logger(level), 0, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			w.WriteHeader(http.StatusOK) // net/http complains on its error log
		})
		s.get(t)
		s.cancel()
		<-s.result
		if got := strings.Contains(strings.Join(logged.all(), ""), "superfluous"); got != want {
			t.Errorf("noise logged at level %v: %t, want %t", level, got, want)
		}
	}
}
