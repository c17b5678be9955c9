package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
)

// dialer is one whose proxy is answer: it gets the request and the rest of the connection.
func dialer(t *testing.T, at string, g *guard.Guard, answer func(*http.Request, net.Conn)) *Dialer {
	t.Helper()
	parsed, err := Parse(schemas.Secret(at))
	if err != nil {
		t.Fatal(err)
	}
	d := New(parsed, g)
	d.dial = func(_ context.Context, _, address string) (net.Conn, error) {
		client, server := net.Pipe()
		t.Cleanup(func() {
			client.Close()
			server.Close()
		})
		if address != d.address {
			t.Errorf("dialed %s, want the proxy", address)
		}
		go func() {
			request, err := http.ReadRequest(bufio.NewReader(server))
			if err == nil {
				answer(request, server)
			}
		}()
		return client, nil
	}
	return d
}

func TestConnectsByWayOfTheProxy(t *testing.T) {
	for address, want := range map[string]string{
		"hooks.example.com:443":       "hooks.example.com:443",
		"93.184.215.14:80":            "93.184.215.14:80",
		"[2606:4700:4700::1111]:8443": "[2606:4700:4700::1111]:8443",
	} {
		d := dialer(t, "http://us%40er:pass@proxy:3128", guard.New(nil), func(r *http.Request, conn net.Conn) {
			user, password, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
			if r.Method != http.MethodConnect || r.RequestURI != want || r.Host != want || user+" "+password != "us@er pass" {
				t.Errorf("asked %s %s of %s as %s", r.Method, r.RequestURI, r.Host, user)
			}
			io.WriteString(conn, "HTTP/1.1 200 Connection established\r\nVia: 1.1 proxy\r\n\r\n")
			io.Copy(conn, conn)
		})
		conn, err := d.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		io.WriteString(conn, "ping")
		echo := make([]byte, 4)
		if _, err := io.ReadFull(conn, echo); err != nil || string(echo) != "ping" {
			t.Errorf("%s: through the tunnel came %q, %v", address, echo, err)
		}
	}
}

func TestWhatTheProxyMightTakeForItselfIsRefused(t *testing.T) {
	d := dialer(t, "http://proxy:3128", guard.New(nil).Denying([]netip.Prefix{netip.MustParsePrefix("93.184.0.0/16")}), func(r *http.Request, _ net.Conn) {
		t.Errorf("the proxy was asked for %s", r.Host)
	})
	for _, host := range []string{
		"10.0.0.1", "127.0.0.1", "[::1]", "[::ffff:169.254.169.254]", "93.184.215.14",
		"localhost", "LOCALHOST", "localhost.", "db.localhost", "127.1", "2130706433", "0x7f.1", "0x7f000001", "010.0.0.1", "1.2.3.4.", "hooks.0x1",
	} {
		_, err := d.DialContext(t.Context(), "tcp", host+":80")
		if _, refused := errors.AsType[*guard.RefusedError](err); !refused {
			t.Errorf("%s: %v, want a refusal", host, err)
		}
	}
}

// TestOwnReceiverIsReachedDirectly: that of the example workspace listens on the loopback of this process.
func TestOwnReceiverIsReachedDirectly(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	peer := netip.MustParseAddrPort(listener.Addr().String())
	at, err := url.Parse("http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := New(at, guard.New(nil, peer)).DialContext(t.Context(), "tcp", peer.String())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestAProxyThatDoesNotConnect(t *testing.T) {
	for answer, want := range map[string]string{
		"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n":  "the proxy of WEBHOOK_SINK_PROXY answers CONNECT with 403",
		"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n":   "answers CONNECT with 407",
		"SSH-2.0-OpenSSH_9.2\r\n\r\n":                          "malformed HTTP",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 64<<10): "EOF",
	} {
		d := dialer(t, "http://proxy:3128", guard.New(nil), func(_ *http.Request, conn net.Conn) { io.WriteString(conn, answer) })
		if _, err := d.DialContext(t.Context(), "tcp", "hooks.example.com:443"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", answer, err, want)
		}
	}
}

func TestAProxyThatTalksIsNotTrusted(t *testing.T) {
	d := dialer(t, "http://proxy:3128", guard.New(nil), func(_ *http.Request, conn net.Conn) {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")
	})
	if _, err := d.DialContext(t.Context(), "tcp", "hooks.example.com:80"); !errors.Is(err, errTalks) {
		t.Errorf("DialContext = %v, want %v", err, errTalks)
	}
}

// TestASilentProxyIsNotWaitedFor beyond the attempt, nor beyond a stop; and the tunnel has no deadline of its own.
func TestASilentProxyIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := dialer(t, "http://proxy:3128", guard.New(nil), func(*http.Request, net.Conn) {})
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := silent.DialContext(ctx, "tcp", "hooks.example.com:80"); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		stopped, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		began = time.Now()
		if _, err := silent.DialContext(stopped, "tcp", "hooks.example.com:80"); err == nil || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

func TestParse(t *testing.T) {
	for text, ok := range map[string]bool{
		"http://proxy:3128": true, "http://user:pass@10.0.0.1:3128/": true, "http://[fd00::1]:3128": true,
		"https://proxy:3128": false, "proxy:3128": false, "http://proxy": false, "http://:3128": false, "": false, "http://proxy:3128/path": false, "socks5://proxy:1080": false,
	} {
		at, err := Parse(schemas.Secret(text))
		if (err == nil) != ok || ok && at == nil {
			t.Errorf("Parse(%q) = %v, %v", text, at, err)
		}
		if err != nil && strings.Contains(err.Error(), "proxy:") {
			t.Errorf("the error of %q quotes it: %v", text, err)
		}
	}
}
