package post

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// http2Only has a server refuse all that does not offer HTTP/2, by alert.
func http2Only(cert tls.Certificate) *tls.Config {
	return &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		config := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"none of ours"}}
		for _, protocol := range hello.SupportedProtos {
			if protocol == "h2" {
				config.NextProtos = []string{"h2"}
			}
		}
		return config, nil
	}}
}

// http2Server speaks HTTP/2 alone.
func http2Server(tb testing.TB, trusted *authority, answer http.HandlerFunc) DialFunc {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	server := &http.Server{Handler: answer, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0), ReadHeaderTimeout: time.Minute}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(tls.NewListener(listener, http2Only(trusted.leaf(tb, nil))))
	}()
	tb.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	return new(latestConn).dialTo(listener.Addr().String())
}

func TestEndpointsThatSpeakHTTP2Alone(t *testing.T) {
	trusted := newAuthority(t, "Trusted")
	seen := make(chan received, 10)
	status := http.StatusOK
	dial := http2Server(t, trusted, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		seen <- received{Method: r.Proto, Target: r.RequestURI, Host: r.Host, Body: string(text), Header: r.Header}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
	})
	var dials atomic.Int64
	client := newClient(t, Options{Dial: counted(dial, &dials), Roots: pool(trusted.cert)})
	target := newTarget(t, tlsURL+"a?b=c")
	body := []byte(`{"a":1}`)
	for i, want := range []struct {
		status int
		result outcome.Outcome
		dials  int64 // so far
	}{
		{200, isDelivered, 2}, // one to be told
		{200, isDelivered, 2},
		{503, outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonStatus5xx, Detail: "endpoint answered 503", RetryAfter: 7 * time.Second}, 2},
		{302, outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonStatus3xx, Detail: "endpoint answered 302; redirects are not followed"}, 2},
	} {
		status = want.status
		if got := client.Post(t.Context(), target, body, "abc123"); !cmp.Equal(got, want.result) {
			t.Errorf("POST %d: %+v, want %+v", i+1, got, want.result)
		}
		clear(body[1:6]) // the caller's again
		request := <-seen
		if request.Method != "HTTP/2.0" || request.Target != "/a?b=c" || request.Host != hookHost ||
			request.Header.Get("X-Signature") != "abc123" || request.Header.Get("User-Agent") != schemas.UserAgent {
			t.Errorf("POST %d: request %+v", i+1, request)
		}
		if i == 0 && request.Body != `{"a":1}` {
			t.Errorf("body %q", request.Body)
		}
		if dials.Load() != want.dials {
			t.Errorf("POST %d: %d connections, want %d", i+1, dials.Load(), want.dials)
		}
	}
	// After an hour it is asked again.
	target.setOnlyHTTP2(time.Now())
	status = http.StatusOK
	if got := client.Post(t.Context(), target, body, ""); !cmp.Equal(got, isDelivered) || dials.Load() != 3 || !target.onlyHTTP2() {
		t.Errorf("asked again: %+v, %d connections", got, dials.Load())
	}
}

// A server that was moved to HTTP/1.1 is found there by the next attempt.
func TestEndpointsThatGiveUpHTTP2(t *testing.T) {
	trusted := newAuthority(t, "Trusted")
	server, _ := tlsServer(t, &tls.Config{Certificates: []tls.Certificate{trusted.leaf(t, nil)}})
	client := newClient(t, Options{Dial: dialTo(server), Roots: pool(trusted.cert)})
	target := newTarget(t, tlsURL)
	target.setOnlyHTTP2(time.Now().Add(time.Hour))
	for i, want := range []outcome.Outcome{{Verdict: outcome.Retry, Reason: schemas.ReasonTLS, Detail: detailTLS}, isDelivered} {
		if got := client.Post(t.Context(), target, []byte("{}"), ""); !cmp.Equal(got, want) {
			t.Errorf("POST %d: %+v, want %+v", i+1, got, want)
		}
	}
}

// The policy of certificates is one.
func TestSelfSignedCertificatesOverHTTP2(t *testing.T) {
	own := selfSignedLeaf(t, nil)
	s := openStall(t, func(v *visit) { _ = tls.Server(v.Conn, http2Only(own)).Handshake() })
	var latest latestConn
	client := newClient(t, Options{Dial: latest.dialTo(s.address), Roots: pool(own.Leaf)})
	target := newTarget(t, tlsURL)
	target.setOnlyHTTP2(time.Now().Add(time.Hour))
	want := outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonSelfSigned, Detail: detailSelfSigned}
	if got := client.Post(t.Context(), target, []byte("{}"), ""); !cmp.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Frames of HTTP/2 (RFC 9113, 6).
const (
	frameData     = 0x0
	frameHeaders  = 0x1
	frameReset    = 0x3
	frameSettings = 0x4
	framePing     = 0x6
	frameGoAway   = 0x7
)

func frame(kind, flags byte, stream uint32, payload ...byte) string {
	head := []byte{0, byte(len(payload) >> 8), byte(len(payload)), kind, flags, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[5:], stream)
	return string(append(head, payload...))
}

func code(c byte) []byte { return []byte{0, 0, 0, c} }

// framed speaks the frames of HTTP/2: it says hello, and has onHeaders answer each
// request, of which it keeps count.
func framed(hello string, onHeaders func(v *visit, stream uint32) bool) func(*visit) {
	return func(v *visit) {
		preface := make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
		if _, err := io.ReadFull(v.from, preface); err != nil || !v.say(frame(frameSettings, 0, 0)+hello) {
			return
		}
		for head := make([]byte, 9); ; {
			if _, err := io.ReadFull(v.from, head); err != nil {
				return
			}
			payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
			if _, err := io.ReadFull(v.from, payload); err != nil {
				return
			}
			if head[3] == framePing && head[4] == 0 {
				v.say(frame(framePing, 1, 0, payload...))
			}
			if head[3] != frameHeaders {
				continue
			}
			v.stall.requests.Add(1)
			if !onHeaders(v, binary.BigEndian.Uint32(head[5:])) {
				return
			}
		}
	}
}

// misbehavingFrames is a receiver, and what comes of POSTs to it.
type misbehavingFrames struct {
	name      string
	hello     string
	onHeaders func(*visit, uint32) bool
	want      outcome.Outcome
	requests  int64 // of as many POSTs; zero: of one, which may not arrive
}

// meet opens the receiver, and returns what meets it. What is in or may come of it
// too, where the client's own goroutines race.
func (m *misbehavingFrames) meet(t *testing.T, trusted *authority, or ...outcome.Outcome) func() {
	t.Helper()
	leaf := trusted.leaf(t, nil)
	s := openStall(t, func(v *visit) {
		conn := tls.Server(v.Conn, http2Only(leaf))
		if conn.Handshake() == nil {
			framed(m.hello, m.onHeaders)(&visit{Conn: conn, stall: v.stall, from: bufio.NewReader(conn), over: v.over})
		}
	})
	opts := Options{Timeout: longTimeout, Dial: new(latestConn).dialTo(s.address), Roots: pool(trusted.cert)}
	if m.want.Reason == schemas.ReasonTimeout {
		opts.Timeout = shortTimeout
	}
	client, target := newClient(t, opts), newTarget(t, tlsURL)
	return func() {
		for i := range max(m.requests, 1) {
			began := time.Now()
			got := withoutErrno(client.Post(t.Context(), target, []byte("{}"), ""))
			if took := time.Since(began); !cmp.Equal(got, m.want) && !slices.ContainsFunc(or, func(o outcome.Outcome) bool { return cmp.Equal(got, o) }) || took > longTimeout/2 {
				t.Errorf("%s: POST %d: %+v after %s, want %+v", m.name, i+1, got, took, m.want)
			}
		}
		s.await(m.requests)
		if n := s.conns.Load(); n > 8 {
			t.Errorf("%s: %d connections", m.name, n)
		}
		if got := s.requests.Load(); m.requests > 0 && got != m.requests {
			t.Errorf("%s: %d requests, want %d", m.name, got, m.requests)
		}
	}
}

func TestMisbehavingHTTP2(t *testing.T) {
	resets := func(c byte) func(*visit, uint32) bool {
		return func(v *visit, stream uint32) bool { return v.say(frame(frameReset, 0, stream, code(c)...)) }
	}
	says := func(text string) func(*visit, uint32) bool {
		return func(v *visit, _ uint32) bool { return v.say(text) }
	}
	endlessly := func(piece func(stream uint32) string) func(*visit, uint32) bool {
		return func(v *visit, stream uint32) bool {
			for v.say(piece(stream)) {
			}
			return false
		}
	}
	// :status 200, then of 1xx, by the static table and a literal (RFC 7541).
	const ok, early = "\x88", "\x08\x03103"
	tests := []misbehavingFrames{
		{"GOAWAY before the request", frame(frameGoAway, 0, 0, append(code(0), code(0)...)...), says(""), isNetwork, 0},
		{"GOAWAY after the request", "", func(v *visit, _ uint32) bool { return v.say(frame(frameGoAway, 0, 0, append(code(0), code(0)...)...)) }, isNetwork, 2},
		{"GOAWAY with an error", "", func(v *visit, _ uint32) bool {
			return v.say(frame(frameGoAway, 0, 0, append(code(0), code(11)...)...)) && false
		}, isNetwork, 2},
		{"refuses the stream", "", resets(7), isNetwork, 2},
		{"calls it a protocol error", "", resets(1), isNetwork, 2},
		{"cancels the stream", "", resets(8), isNetwork, 2},
		{"flood of RST_STREAM", "", endlessly(func(stream uint32) string { return strings.Repeat(frame(frameReset, 0, stream, code(7)...), 1000) }), isNetwork, 1},
		{"flood of PING", "", endlessly(func(uint32) string { return strings.Repeat(frame(framePing, 0, 0, make([]byte, 8)...), 1000) }), isNetwork, 1},
		{"flood of SETTINGS", "", endlessly(func(uint32) string { return strings.Repeat(frame(frameSettings, 0, 0), 1000) }), isNetwork, 1},
		{"flood of 1xx", "", endlessly(func(stream uint32) string {
			return strings.Repeat(frame(frameHeaders, 4, stream, []byte(early)...), 1000)
		}), isNetwork, 1},
		{"data before the header", "", func(v *visit, stream uint32) bool { return v.say(frame(frameData, 1, stream, []byte("CANARY")...)) }, isNetwork, 2},
		{"no frames", "CANARY CANARY CANARY", says("CANARY"), isNetwork, 0},
		{"says nothing", "", says(""), isTimeout, 2},
		{"hangs up", "", func(*visit, uint32) bool { return false }, isNetwork, 2},
		{"endless body", "", func(v *visit, stream uint32) bool {
			return v.say(frame(frameHeaders, 4, stream, []byte(ok)...)) && endlessly(func(uint32) string { return frame(frameData, 0, stream, make([]byte, 1<<14-1)...) })(v, stream)
		}, isDelivered, 1},
	}
	trusted := newAuthority(t, "Trusted")
	logged := captureLog(t)
	// Those that are to time out come last, when there is time to send in time.
	for _, slow := range []bool{false, true} {
		var running sync.WaitGroup
		for _, test := range tests {
			if (test.want.Reason == schemas.ReasonTimeout) == slow {
				running.Go(test.meet(t, trusted))
			}
		}
		running.Wait()
	}
	// net/http waits for a stream, or finds the connection unusable when it has read
	// that before it sends a request.
	noStreams := misbehavingFrames{"no streams allowed", frame(frameSettings, 0, 0, 0, 3, 0, 0, 0, 0), says(""), isTimeout, 0}
	noStreams.meet(t, trusted, isNetwork)()
	if strings.Contains(logged(), "CANARY") {
		t.Errorf("bytes of a receiver in the log: %s", logged())
	}
}

// captureLog returns what goes to the standard logger, net/http's too.
func captureLog(t *testing.T) func() string {
	t.Helper()
	var (
		mu   sync.Mutex
		text bytes.Buffer
	)
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return text.Write(p)
	}), nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A stop of ours ends a request over HTTP/2 at once.
func TestShutdownCutsHTTP2Short(t *testing.T) {
	trusted := newAuthority(t, "Trusted")
	arrived := make(chan struct{}, 1)
	dial := http2Server(t, trusted, func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	client := newClient(t, Options{Dial: dial, Roots: pool(trusted.cert)})
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-arrived
		stop()
	}()
	if got := client.Post(ctx, newTarget(t, tlsURL), []byte("{}"), ""); !cmp.Equal(got, outcome.Outcome{Verdict: outcome.Abandoned}) {
		t.Errorf("%+v", got)
	}
}
