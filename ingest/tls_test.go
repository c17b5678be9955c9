package ingest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// authority issues certificates for the loopback address, that one pool of roots
// trusts.
type authority struct {
	roots *x509.CertPool
	cert  *x509.Certificate
	key   *ecdsa.PrivateKey
	next  int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{roots: x509.NewCertPool(), key: newKey(t), next: 1}
	a.cert = &x509.Certificate{IsCA: true, BasicConstraintsValid: true}
	der := a.sign(t, a.cert, a.key)
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a.cert = parsed
	a.roots.AddCert(parsed)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) sign(t *testing.T, template *x509.Certificate, key *ecdsa.PrivateKey) (der []byte) {
	t.Helper()
	template.SerialNumber = big.NewInt(a.next)
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	a.next++
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// write issues a certificate into two files, the key last: in between they don't
// belong together.
func (a *authority) write(t *testing.T, certFile, keyFile string) {
	t.Helper()
	key := newKey(t)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	der := a.sign(t, &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, key)
	for _, file := range []struct {
		name, kind string
		der        []byte
	}{{certFile, "CERTIFICATE", der}, {keyFile, "PRIVATE KEY", secret}} {
		text := pem.EncodeToMemory(&pem.Block{Type: file.kind, Bytes: file.der})
		if err := os.WriteFile(file.name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// client is one that speaks TLS and a version of HTTP, and calls seen with the
// serial number of each certificate that it is shown.
func (a *authority) client(t *testing.T, major int, seen func(serial int64)) *http.Client {
	t.Helper()
	var protocols http.Protocols
	protocols.SetHTTP1(major == 1)
	protocols.SetHTTP2(major == 2)
	tr := &http.Transport{Protocols: &protocols, TLSClientConfig: &tls.Config{
		RootCAs: a.roots,
		VerifyConnection: func(state tls.ConnectionState) error {
			seen(state.PeerCertificates[0].SerialNumber.Int64())
			return nil
		},
	}}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// secure posts one call over TLS.
func (s *stage) secure(client *http.Client) (reply, error) {
	r, err := http.NewRequest(http.MethodPost, "https://"+s.Addr()+"/v1/identify", strings.NewReader(oneCall))
	if err != nil {
		return reply{}, err
	}
	r.SetBasicAuth(goodKey, "")
	return (&stage{Ingest: s.Ingest, client: client}).do(r)
}

func encrypted(t *testing.T) (s *stage, a *authority, certFile, keyFile string) {
	t.Helper()
	a = newAuthority(t)
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	a.write(t, certFile, keyFile)
	s = start(t, testkit.Brokers(t), func(c *Config) {
		c.TLSCertFile, c.TLSKeyFile, c.MaxConnections = certFile, keyFile, 100
	})
	return s, a, certFile, keyFile
}

func TestCallsOverTLS(t *testing.T) {
	s, a, _, _ := encrypted(t)
	for major := 1; major <= 2; major++ {
		got, err := s.secure(a.client(t, major, func(int64) {}))
		if err != nil || got.body != success {
			t.Errorf("HTTP/%d: got %d %s, %v", major, got.status, got.body, err)
		}
	}
	s.stored(t, 2)
	if _, err := s.secure(&http.Client{Transport: &http.Transport{}}); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("a client that does not trust the authority: got %v", err)
	}
}

// TestACertificateIsReplacedUnderLoad has clients of both kinds go on, one half of
// them with a new connection for each call, until they have seen the new
// certificate.
func TestACertificateIsReplacedUnderLoad(t *testing.T) {
	s, a, certFile, keyFile := encrypted(t)
	var stop atomic.Bool
	var calls, newest atomic.Int64
	var load sync.WaitGroup
	for i := range 4 {
		client := a.client(t, 1+i/2, func(serial int64) { newest.Store(max(newest.Load(), serial)) })
		client.Transport.(*http.Transport).DisableKeepAlives = i%2 == 0
		load.Go(func() {
			for !stop.Load() {
				got, err := s.secure(client)
				if err != nil || got.body != success {
					t.Errorf("got %d %s, %v", got.status, got.body, err)
				}
				calls.Add(1)
			}
		})
	}
	testkit.Until(t, func() bool { return calls.Load() > 20 }, "the load to begin")
	for range 2 {
		before := newest.Load()
		a.write(t, certFile, keyFile)
		testkit.Until(t, func() bool { return newest.Load() > before }, "the new certificate to be shown")
	}
	stop.Store(true)
	load.Wait()
	s.cluster.ReadAll(t, schemas.TopicRawEvents, int(calls.Load()))
	if log := s.log.String(); strings.Count(log, "certificate replaced") != 2 {
		t.Errorf("log:\n%s", log)
	}
}

// trickle is a body of ten kilobytes that takes its time.
type trickle struct {
	kilobytes int
	ended     atomic.Bool
}

func (b *trickle) Read(p []byte) (int, error) {
	if b.kilobytes == 10 {
		b.ended.Store(true)
		return 0, io.EOF
	}
	b.kilobytes++
	time.Sleep(10 * time.Millisecond) //nolint:forbidigo // a body that trickles; no test waits for it to be so slow
	return copy(p, make([]byte, 1<<10)), nil
}

// TestARefusalOverHTTP2TakesTheBody because a stream that is reset for its body
// takes the answer with it.
func TestARefusalOverHTTP2TakesTheBody(t *testing.T) {
	s, a, _, _ := encrypted(t)
	body := new(trickle)
	r, err := http.NewRequest(http.MethodPost, "https://"+s.Addr()+"/v1/batch", body)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("wrong", "")
	got, err := (&stage{Ingest: s.Ingest, client: a.client(t, 2, func(int64) {})}).do(r)
	if err != nil || got.status != http.StatusUnauthorized || !body.ended.Load() {
		t.Errorf("got %d, %v after %d kilobytes", got.status, err, body.kilobytes)
	}
}

func TestHalfATLSSettingIsNotPlainHTTP(t *testing.T) {
	file := filepath.Join(t.TempDir(), "no.pem")
	for name, c := range map[string]struct{ cert, key, want string }{
		"no key":         {file, "", "INGEST_TLS_KEY_FILE is empty: expected the key that belongs to INGEST_TLS_CERT_FILE=" + file},
		"no certificate": {"", file, "INGEST_TLS_CERT_FILE is empty: expected the certificate that belongs to INGEST_TLS_KEY_FILE=" + file},
		"no file":        {file, file, "INGEST_TLS_CERT_FILE=" + file + ", INGEST_TLS_KEY_FILE=" + file + ": expected a certificate and its key as PEM files: read " + file + ": no such file or directory"},
	} {
		_, err := serverTLS(c.cert, c.key, slog.New(slog.DiscardHandler))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v\nwant %s", name, err, c.want)
		}
	}
	if got, err := serverTLS("", "", nil); got != nil || err != nil {
		t.Errorf("without files: got %v, %v", got, err)
	}
}
