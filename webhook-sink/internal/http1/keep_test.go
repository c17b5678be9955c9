package http1

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// framings are the ways in which a body may come.
var framings = map[string]func(body string) string{
	"with its length": func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) },
	"in chunks": func(body string) string {
		var text strings.Builder
		text.WriteString("Transfer-Encoding: chunked\r\n\r\n")
		for piece := range strings.SplitSeq(body, "|") {
			if piece != "" {
				fmt.Fprintf(&text, "%x\r\n%s\r\n", len(piece), piece)
			}
		}
		return text.String() + "0\r\n\r\n"
	},
	"until the end": func(body string) string { return "Connection: close\r\n\r\n" + body },
}

// TestWhatIsKept: of a failure the body's first kilobyte, whatever it is framed by and however
// it comes; of a success nothing; and the connection is used again as if nothing were kept.
func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	for framing, framed := range framings {
		for _, size := range []int{0, 1, MaxKept - 1, MaxKept, MaxKept + 1, 5000, maxDrain - 1, 2 * maxDrain} {
			for _, pieces := range []int{1, 7} {
				t.Run(fmt.Sprintf("%s, %d bytes in pieces of 1/%d", framing, size, pieces), func(t *testing.T) {
					t.Parallel()
					const chunk = "xy-xy-xy-xy-xy-xy-xy-xy-xy-xy-xy-xy|"
					body := strings.Repeat(chunk, size/len(chunk)+1)[:size]
					whole := framed(body)
					if framing == "in chunks" {
						body = strings.ReplaceAll(body, "|", "")
					}
					for _, test := range []struct {
						keep   Keep
						status int
						want   string
					}{
						{Nothing, 503, ""},
						{Failures, 200, ""},
						{Failures, 299, ""},
						{Failures, 300, body},
						{Failures, 503, body},
						{Everything, 200, body},
					} {
						again := int64(1)
						if framing == "until the end" || size >= maxDrain {
							again = 2
						}
						checkKept(t, test.keep, test.status, whole, pieces, test.want[:min(len(test.want), MaxKept)], again)
					}
				})
			}
		}
	}
}

// checkKept makes two requests, and looks at what is kept of the answers, and at how many
// connections it took.
func checkKept(t *testing.T, keep Keep, status int, whole string, pieces int, want string, connections int64) {
	t.Helper()
	head := fmt.Sprintf("HTTP/1.1 %d x\r\n", status)
	dial, dials := listen(t, inPieces(head+whole, pieces))
	client := newClient(t, Options{Dial: dial, Keep: keep})
	e := newEndpoint(t, "http://hooks.example.com/")
	for range 2 {
		got, err := client.Post(t.Context(), far(), e, []byte("{}"), "")
		if err != nil || got.Status != status {
			t.Fatalf("status %d, %v", got.Status, err)
		}
		if string(got.Body) != want {
			t.Errorf("keeping %d of a %d: %d bytes are kept, want %d", keep, status, len(got.Body), len(want))
		}
		if kept := keep == Everything; kept != (got.Head != nil) || !strings.HasPrefix(whole, strings.TrimPrefix(string(got.Head), head)) {
			t.Errorf("keeping %d: the head %q is kept", keep, got.Head)
		}
	}
	if n := dials.Load(); n != connections {
		t.Errorf("keeping %d: %d connections for two requests, want %d", keep, n, connections)
	}
}

// inPieces answers each request with a text, in so many writes.
func inPieces(text string, pieces int) func(net.Conn) {
	return func(conn net.Conn) {
		from := bufio.NewReader(conn)
		for _, more := readRequest(from); more; _, more = readRequest(from) {
			for rest := text; rest != ""; {
				n := min(len(text)/pieces+1, len(rest))
				if _, err := io.WriteString(conn, rest[:n]); err != nil {
					return
				}
				rest = rest[n:]
			}
			if strings.Contains(text, "Connection: close") {
				return
			}
		}
	}
}

// TestWhatIsKeptOverTLS: what is kept beyond what came with the head does not end what is
// known of bytes that came after the response.
func TestWhatIsKeptOverTLS(t *testing.T) {
	t.Parallel()
	server, trusting := certified(t)
	dial, dials := listen(t, func(conn net.Conn) {
		inPieces("HTTP/1.1 500 x\r\nContent-Length: 3000\r\n\r\n"+strings.Repeat("x", 3000)+"HTTP/1.1 200 forged\r\nContent-Length: 0\r\n\r\n", 5)(tls.Server(conn, server))
	})
	client := newClient(t, Options{Dial: dial, TLS: trusting, Keep: Failures})
	e := newEndpoint(t, "https://hooks.example.com/")
	for range 3 {
		got, err := client.Post(t.Context(), far(), e, []byte("{}"), "")
		if err != nil || got.Status != 500 || len(got.Body) != MaxKept {
			t.Errorf("status %d with %d bytes, %v", got.Status, len(got.Body), err)
		}
	}
	if n := dials.Load(); n != 3 {
		t.Errorf("%d connections for three requests whose answers had something behind them", n)
	}
}

// BenchmarkKeeping shows what it costs to keep answers: nothing while they are good.
func BenchmarkKeeping(b *testing.B) {
	for _, keep := range []Keep{Nothing, Failures} {
		for _, status := range []int{200, 503} {
			b.Run(fmt.Sprintf("keep %d, status %d", keep, status), func(b *testing.B) {
				dial, _ := listen(b, answering(fmt.Sprintf("HTTP/1.1 %d x\r\nContent-Length: 20\r\n\r\n%s", status, strings.Repeat("x", 20))))
				client := newClient(b, Options{Dial: dial, Keep: keep})
				e := newEndpoint(b, "http://hooks.example.com/")
				b.ReportAllocs()
				for b.Loop() {
					if got, err := client.Post(b.Context(), far(), e, []byte("{}"), ""); err != nil || got.Status != status {
						b.Fatal(got, err)
					}
				}
			})
		}
	}
}
