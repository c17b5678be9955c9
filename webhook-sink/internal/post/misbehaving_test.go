package post

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

const (
	// shortTimeout is that of attempts that are to time out, longTimeout that of all
	// others, so that no outcome hangs on how busy the machine is.
	shortTimeout = time.Second
	longTimeout  = 30 * time.Second

	// moreThanBuffers is more than the sockets of a connection take.
	moreThanBuffers = 16 << 20
)

// misbehaving is a receiver, and what comes of two POSTs to it.
type misbehaving struct {
	name  string
	https bool
	serve func(*visit)
	at    func(testing.TB) string // instead of serve: an address where nobody answers

	size int  // of the body; zero: a kilobyte
	wait bool // before the second POST, until the first's connection has news

	first, second outcome.Outcome // without what the kernel calls it; second is like first when it is zero
	conns         int64
	requests      int64 // that arrived whole
}

func misbehavingReceivers(tb testing.TB) ([]misbehaving, *authority) {
	tb.Helper()
	const ok = "HTTP/1.1 200 OK\r\n"
	trusted, stranger := newAuthority(tb, "Trusted"), newAuthority(tb, "Stranger")
	good := trusted.leaf(tb, nil)
	status := func(verdict outcome.Verdict, reason schemas.Reason, detail string) outcome.Outcome {
		return outcome.Outcome{Verdict: verdict, Reason: reason, Detail: "endpoint answered " + detail}
	}
	var (
		redirected302 = status(outcome.Dead, schemas.ReasonStatus3xx, "302; redirects are not followed")
		redirected307 = status(outcome.Dead, schemas.ReasonStatus3xx, "307; redirects are not followed")
		tooLarge      = status(outcome.Dead, schemas.ReasonStatus4xx, "413")
		failed        = status(outcome.Retry, schemas.ReasonStatus5xx, "500")
		slowDown      = outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonStatus4xx, Detail: "endpoint answered 429", RetryAfter: 17 * time.Second}
		selfSigned    = outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonSelfSigned, Detail: detailSelfSigned}
		refused       = func(detail string) outcome.Outcome {
			return outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonTLS, Detail: detail}
		}
		tooLong    = malformed("header of more than 64 KiB")
		noStatus   = malformed("no status line of HTTP/1")
		badField   = malformed("a header field can't be read")
		twoLengths = malformed("two lengths")
	)
	return []misbehaving{
		{name: "ok", serve: answering(okResponse), first: isDelivered, conns: 1, requests: 2},
		{name: "header of one endless line", serve: flooding(ok+"X: ", megabyte, 0), first: tooLong, conns: 2, requests: 2},
		{name: "header of endless lines", serve: flooding(ok, manyLines, 0), first: tooLong, conns: 2, requests: 2},
		{name: "60 KB of header", serve: answering(ok + strings.Repeat("X-A: "+strings.Repeat("b", 1000)+"\r\n", 58) + "Content-Length: 2\r\n\r\nok"), first: isDelivered, conns: 1, requests: 2},
		{name: "flood of 1xx", serve: flooding("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 0), first: malformed("more than eight informational responses"), conns: 2, requests: 2},
		{name: "trickle of 1xx", serve: flooding("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 300*time.Millisecond), first: isTimeout, conns: 2, requests: 2},
		{name: "1xx, then 200", serve: answering("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + okResponse), first: isDelivered, conns: 1, requests: 2},
		{name: "101", serve: answering("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), first: malformed("it switches protocols"), conns: 2, requests: 2},
		{name: "endless body", serve: flooding(ok+"\r\n", megabyte, 0), first: isDelivered, conns: 2, requests: 2},
		{name: "endless chunks", serve: flooding(ok+"Transfer-Encoding: chunked\r\n\r\n", "100000\r\n"+megabyte+"\r\n", 0), first: isDelivered, conns: 2, requests: 2},
		{name: "body of 9 GB", serve: flooding(ok+"Content-Length: 9000000000\r\n\r\n", megabyte, 0), first: isDelivered, conns: 2, requests: 2},
		{name: "body trickles", serve: flooding(ok+"Content-Length: 1000\r\n\r\n", "x", 50*time.Millisecond), first: isDelivered, conns: 2, requests: 2},
		{name: "body never comes", serve: flooding(ok+"Content-Length: 1000\r\n\r\n", "", time.Second), first: isDelivered, conns: 2, requests: 2},
		{name: "reset in the header", serve: resetting(ok + "X: "), first: isNetwork, conns: 2, requests: 2},
		{name: "reset in the body", serve: resetting(ok + "Content-Length: 100\r\n\r\nabc"), first: isDelivered, conns: 2, requests: 2},
		{name: "body shorter than promised", serve: answeringOnce(ok + "Content-Length: 100\r\n\r\nabc"), first: isDelivered, conns: 2, requests: 2},
		{name: "forged response behind the first", serve: forging(0), first: isDelivered, second: failed, conns: 2, requests: 2},
		{name: "forged response comes later", serve: forging(20 * time.Millisecond), wait: true, first: isDelivered, second: failed, conns: 2, requests: 2},
		{name: "chunks of garbage", serve: answering(ok + "Transfer-Encoding: chunked\r\n\r\nZZZ\r\nfoo\r\n"), first: isDelivered, conns: 2, requests: 2},
		{name: "chunk of a huge size", serve: answering(ok + "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nfoo"), first: isDelivered, conns: 2, requests: 2},
		{name: "chunks as they should be", serve: answering(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), first: isDelivered, conns: 1, requests: 2},
		{name: "a length beside chunks", serve: answering(ok + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"), first: twoLengths, conns: 2, requests: 2},
		{name: "two lengths", serve: answering(ok + "Content-Length: 3\r\nContent-Length: 0\r\n\r\nabc"), first: twoLengths, conns: 2, requests: 2},
		{name: "closes at once", serve: func(*visit) {}, first: isNetwork, conns: 2},
		{name: "resets at once", serve: (*visit).reset, first: isNetwork, conns: 2},
		{name: "reads and closes", serve: answeringOnce(""), first: isNetwork, conns: 2, requests: 2},
		{name: "closes after the response", serve: answeringOnce(okResponse), wait: true, first: isDelivered, conns: 2, requests: 2},
		{name: "closes in the second request", serve: func(v *visit) { answeringOnce(okResponse)(v); v.read() }, first: isDelivered, second: isNetwork, conns: 1, requests: 2},
		{name: "closes after 50 ms", serve: func(v *visit) { answeringOnce(okResponse)(v); v.pause(50 * time.Millisecond) }, wait: true, first: isDelivered, conns: 2, requests: 2},
		{name: "413 without reading", serve: func(v *visit) { v.readHead(); v.say("HTTP/1.1 413 Big\r\nContent-Length: 0\r\n\r\n"); hanging(v) }, size: moreThanBuffers, first: tooLarge, conns: 2},
		{name: "413 and hangs up", serve: func(v *visit) { v.readHead(); v.say("HTTP/1.1 413 Big\r\nContent-Length: 0\r\n\r\n") }, size: 1 << 20, first: tooLarge, conns: 2},
		{name: "responds before the request", serve: func(v *visit) { v.say(okResponse); v.read(); hangingAfterRequest(v) }, first: isDelivered, second: isTimeout, conns: 1, requests: 2},
		{name: "302", serve: answering("HTTP/1.1 302 F\r\nLocation: /moved\r\nContent-Length: 0\r\n\r\n"), first: redirected302, conns: 1, requests: 2},
		{name: "307", serve: answering("HTTP/1.1 307 F\r\nLocation: /moved\r\nContent-Length: 0\r\n\r\n"), first: redirected307, conns: 1, requests: 2},
		{name: "gzip bomb", serve: answering(ok + "Content-Encoding: gzip\r\nContent-Length: " + strconv.Itoa(len(bombResponse())) + "\r\n\r\n" + bombResponse()), first: isDelivered, conns: 1, requests: 2},
		{name: "no status line", serve: answering("X-A: b\r\nContent-Length: 0\r\n\r\n"), first: noStatus, conns: 2, requests: 2},
		{name: "status 99999", serve: answering("HTTP/1.1 99999 X\r\nContent-Length: 0\r\n\r\n"), first: noStatus, conns: 2, requests: 2},
		{name: "HTTP/0.9", serve: answeringOnce("<html>hi</html>"), first: noStatus, conns: 2, requests: 2},
		{name: "NUL in a value", serve: answering(ok + "X-A: a\x00b\r\nContent-Length: 0\r\n\r\n"), first: badField, conns: 2, requests: 2},
		{name: "NUL in a name", serve: answering(ok + "X-\x00A: b\r\nContent-Length: 0\r\n\r\n"), first: badField, conns: 2, requests: 2},
		{name: "byte by byte", serve: func(v *visit) {
			for v.read() {
				for i := range len(okResponse) {
					v.say(okResponse[i : i+1])
					v.pause(200 * time.Microsecond)
				}
			}
		}, first: isDelivered, conns: 1, requests: 2},
		{name: "Retry-After", serve: answering("HTTP/1.1 429 Slow\r\nretry-after: 17\r\nContent-Length: 0\r\n\r\n"), first: slowDown, conns: 1, requests: 2},
		{name: "hangs before the header", serve: hangingAfterRequest, first: isTimeout, conns: 2, requests: 2},
		{name: "header trickles", serve: flooding(ok, "X", 100*time.Millisecond), first: isTimeout, conns: 2, requests: 2},
		{name: "hangs at connect", at: fullBacklog, first: isTimeout},
		{name: "refuses connections", at: closedPort, first: isNetwork},
		{name: "TLS: hangs in the handshake", https: true, serve: hanging, first: isTimeout, conns: 2},
		{name: "TLS: speaks plain HTTP", https: true, serve: func(v *visit) { v.say("HTTP/1.1 400 Bad\r\n\r\n"); v.pause(100 * time.Millisecond) }, first: refused(detailTLS), conns: 2},
		{name: "TLS: closes at once", https: true, serve: func(*visit) {}, first: isNetwork, conns: 2},
		{name: "TLS: ok", https: true, serve: encrypted(good, nil, answering(okResponse)), first: isDelivered, conns: 1, requests: 2},
		{name: "TLS: closes after the response", https: true, serve: encrypted(good, nil, func(v *visit) { answeringOnce(okResponse)(v); _ = v.Close() }), wait: true, first: isDelivered, conns: 2, requests: 2},
		{name: "TLS: hangs before the header", https: true, serve: encrypted(good, nil, hangingAfterRequest), first: isTimeout, conns: 2, requests: 2},
		{name: "TLS: stops reading", https: true, serve: encrypted(good, nil, hanging), size: moreThanBuffers, first: isTimeout, conns: 2},
		{name: "TLS: self-signed", https: true, serve: encrypted(selfSignedLeaf(tb, nil), nil, answering(okResponse)), first: selfSigned, conns: 2},
		{name: "TLS: self-signed, expired, for another host", https: true, serve: encrypted(selfSignedLeaf(tb, both(expired, otherHost)), nil, answering(okResponse)), first: selfSigned, conns: 2},
		{name: "TLS: of an unknown authority", https: true, serve: encrypted(stranger.leaf(tb, nil), nil, answering(okResponse)), first: refused(detailUnknownRoot), conns: 2},
		{name: "TLS: expired", https: true, serve: encrypted(trusted.leaf(tb, expired), nil, answering(okResponse)), first: refused(detailExpired), conns: 2},
		{name: "TLS: for another host", https: true, serve: encrypted(trusted.leaf(tb, otherHost), nil, answering(okResponse)), first: refused(detailWrongHost), conns: 2},
		{name: "TLS: offers HTTP/2 alone, and speaks HTTP/1.1", https: true, serve: encrypted(good, []string{"h2"}, answering(okResponse)), first: isDelivered, conns: 1, requests: 2},
	}, trusted
}

// TestMisbehavingReceivers has real sockets on both sides; what takes time exactly
// is in TestHostileReceivers. All that are to time out run at once, after the others,
// as they do little but wait.
func TestMisbehavingReceivers(t *testing.T) {
	receivers, trusted := misbehavingReceivers(t)
	for _, slow := range []bool{false, true} {
		var running sync.WaitGroup
		for i := range receivers {
			if r := &receivers[i]; r.timesOut() == slow {
				running.Go(r.meet(t, trusted))
			}
		}
		running.Wait()
	}
}

// meet opens the receiver, and returns what meets it.
func (r *misbehaving) meet(t *testing.T, trusted *authority) func() {
	t.Helper()
	s := r.open(t)
	var latest latestConn
	limit := longTimeout
	if r.timesOut() {
		limit = shortTimeout
	}
	client := newClient(t, Options{Timeout: limit, Dial: latest.dialTo(s.address), Roots: pool(trusted.cert)})
	target := newTarget(t, r.url())
	return func() {
		r.check(t, 1, r.first, client, target)
		if r.wait {
			latest.awaitNews()
		}
		r.check(t, 2, r.second, client, target)
		s.await(r.requests)
		if got, want := s.counts(), r.counts(); got != want {
			t.Errorf("%s: %d connections and whole requests, want %d", r.name, got, want)
		}
	}
}

func (r *misbehaving) timesOut() bool {
	return r.first.Reason == schemas.ReasonTimeout || r.second.Reason == schemas.ReasonTimeout
}

// counts are the connections and the whole requests seen.
func (r *misbehaving) counts() [2]int64 { return [2]int64{r.conns, r.requests} }

func (s *stall) counts() [2]int64 { return [2]int64{s.conns.Load(), s.requests.Load()} }

func (r *misbehaving) open(tb testing.TB) *stall {
	tb.Helper()
	if r.serve == nil {
		return &stall{address: r.at(tb)}
	}
	return openStall(tb, r.serve)
}

func (r *misbehaving) url() string {
	if r.https {
		return tlsURL
	}
	return hookURL
}

// check makes a POST.
func (r *misbehaving) check(t *testing.T, nth int, want outcome.Outcome, client *Client, target *Target) {
	t.Helper()
	if want.Verdict == outcome.None {
		want = r.first
	}
	began := time.Now()
	got := withoutErrno(client.Post(t.Context(), target, r.body(), ""))
	took := time.Since(began)
	if !cmp.Equal(got, want) {
		t.Errorf("%s: POST %d: %+v, want %+v", r.name, nth, got, want)
	}
	if want.Reason == schemas.ReasonTimeout && (took < shortTimeout || took > longTimeout) {
		t.Errorf("%s: POST %d timed out after %s", r.name, nth, took)
	}
}

func (r *misbehaving) body() []byte {
	return make([]byte, max(r.size, 1000))
}

// withoutErrno drops what the kernel called it, which depends on who was faster.
func withoutErrno(r outcome.Outcome) outcome.Outcome {
	if !strings.HasPrefix(r.Cause, "malformed") {
		r.Cause = ""
	}
	return r
}

func both(edits ...func(*x509.Certificate)) func(*x509.Certificate) {
	return func(cert *x509.Certificate) {
		for _, edit := range edits {
			edit(cert)
		}
	}
}

// latestConn keeps the socket of a client that was dialed last.
type latestConn struct {
	mu   sync.Mutex
	conn *net.TCPConn
}

func (l *latestConn) dialTo(address string) DialFunc {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.conn, _ = conn.(*net.TCPConn)
		return conn, nil
	}
}

// awaitNews waits until something has arrived on the socket, if only its end.
func (l *latestConn) awaitNews() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return // the first POST has failed, and says so
	}
	raw, err := l.conn.SyscallConn()
	if err != nil {
		return
	}
	for {
		arrived := false
		if err := raw.Control(func(fd uintptr) {
			_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
			arrived = !errors.Is(err, syscall.EAGAIN)
		}); err != nil || arrived {
			return
		}
		<-time.After(time.Millisecond) // spinning would keep the runtime from polling the network
	}
}
