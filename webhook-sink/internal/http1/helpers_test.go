package http1

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const okResponse = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// far is a deadline that no test meets.
func far() time.Time { return time.Now().Add(time.Minute) }

func newEndpoint(tb testing.TB, at string) *Endpoint {
	tb.Helper()
	parsed, err := url.Parse(at)
	if err != nil {
		tb.Fatal(err)
	}
	e, err := NewEndpoint(parsed, http.Header{"Content-Type": {"application/json"}})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// newClient returns a Client that is closed with the test.
func newClient(tb testing.TB, opts Options) *Client {
	tb.Helper()
	if opts.Idle == 0 {
		opts.Idle = 64
	}
	client := New(opts)
	tb.Cleanup(client.Close)
	return client
}

// listen has serve play the receiver of each connection, which is closed when that
// returns or the test ends, and returns a dial function that counts.
func listen(tb testing.TB, serve func(net.Conn)) (dial DialFunc, dials *atomic.Int64) {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var running sync.WaitGroup
	over, stop := context.WithCancel(context.Background())
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer context.AfterFunc(over, func() { _ = conn.Close() })()
				defer conn.Close()
				serve(conn)
			})
		}
	})
	tb.Cleanup(func() {
		_ = listener.Close()
		stop()
		running.Wait()
	})
	dials = new(atomic.Int64)
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, listener.Addr().String())
	}, dials
}

// pipes is the same over pipes, for virtual time.
func pipes(serve func(net.Conn)) (dial DialFunc, dials *atomic.Int64) {
	dials = new(atomic.Int64)
	return func(context.Context, string, string) (net.Conn, error) {
		dials.Add(1)
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			serve(theirs)
		}()
		return ours, nil
	}, dials
}

// readRequest reads one whole request and returns its body; false when there is none.
func readRequest(from *bufio.Reader) (string, bool) {
	request, err := http.ReadRequest(from)
	if err != nil {
		return "", false
	}
	body, err := io.ReadAll(request.Body)
	return string(body), err == nil
}

// answering says the texts after each request.
func answering(text string) func(net.Conn) {
	return func(conn net.Conn) {
		from := bufio.NewReader(conn)
		for _, more := readRequest(from); more; _, more = readRequest(from) {
			_, _ = io.WriteString(conn, text)
		}
	}
}

// certified makes configurations of a server named hooks.example.com and of clients
// that trust it.
func certified(tb testing.TB) (server, client *tls.Config) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		DNSNames:     []string{"hooks.example.com"},
		NotBefore:    time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, key.Public(), key)
	if err != nil {
		tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, &tls.Config{RootCAs: roots}
}
