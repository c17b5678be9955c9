package app

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"testing"
)

// echo is a receiver that answers with what it was sent, in every place where a
// client might take it for something to report. The URL's path says how.
type echo struct {
	addr string

	mu   sync.Mutex
	seen strings.Builder
}

// echoes are the paths of an echo, with what is sent for the request's head in one
// line and the request as a whole.
var echoes = map[string]string{
	"/error":       "HTTP/1.1 500 %[1]s\r\nX-Echo: %[1]s\r\nContent-Length: %[3]d\r\n\r\n%[2]s",
	"/refusal":     "HTTP/1.1 400 %[1]s\r\nX-Echo: %[1]s\r\nContent-Length: %[3]d\r\n\r\n%[2]s",
	"/redirect":    "HTTP/1.1 302 %[1]s\r\nLocation: http://%[1]s\r\nContent-Length: 0\r\n\r\n",
	"/later":       "HTTP/1.1 503 Later\r\nRetry-After: %[1]s\r\nContent-Length: 0\r\n\r\n",
	"/status-line": "%[1]s\r\n\r\n",
	"/version":     "HTTP/%[1]s 200 OK\r\n\r\n",
	"/status":      "HTTP/1.1 %[1]s\r\n\r\n",
	"/header":      "HTTP/1.1 200 OK\r\n%[1]s\r\n\r\n",
	"/header-name": "HTTP/1.1 200 OK\r\n%[1]s: x\r\n\r\n",
	"/length":      "HTTP/1.1 200 OK\r\nContent-Length: %[1]s\r\n\r\n",
	"/lengths":     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: %[1]s\r\n\r\n",
	"/encoding":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: %[1]s\r\n\r\n",
	"/early":       "HTTP/1.1 103 %[1]s\r\nLink: %[1]s\r\n\r\n%[1]s",
	"/upgrade":     "HTTP/1.1 101 %[1]s\r\nUpgrade: %[1]s\r\n\r\n%[2]s",
}

// takenEchoes end well: the status line decides, and what is odd comes after it.
var takenEchoes = map[string]string{
	"/chunk":   "HTTP/1.1 200 %[1]s\r\nTransfer-Encoding: chunked\r\n\r\n%[1]s\r\n",
	"/surplus": "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n%[1]s",
	"/trailer": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Echo\r\n\r\n0\r\nX-Echo: %[1]s\r\n%[1]s\r\n\r\n",
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{addr: l.Addr().String()}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { e.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		serving.Wait()
	})
	return e
}

// serve answers one request. Only the surplus keeps its connection, since it is
// the idle one that reads it.
func (e *echo) serve(conn net.Conn) {
	defer conn.Close()
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		_, _ = io.WriteString(conn, "HTTP/1.0 400 Bad Request\r\n\r\n") // TLS, for one
		return
	}
	whole, err := httputil.DumpRequest(request, true)
	if err != nil {
		return
	}
	e.mu.Lock()
	e.seen.Write(whole)
	e.mu.Unlock()
	head, _, _ := strings.Cut(string(whole), "\r\n\r\n")
	line := strings.ReplaceAll(head, "\r\n", "; ")
	format := echoes[request.URL.Path] + takenEchoes[request.URL.Path]
	_, _ = fmt.Fprintf(conn, format+"%.[4]*[1]s", line, whole, len(whole), 0)
	if request.URL.Path == "/surplus" {
		_, _ = io.Copy(io.Discard, conn)
	}
}

func (e *echo) received() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen.String()
}
