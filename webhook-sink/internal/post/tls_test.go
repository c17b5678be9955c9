package post

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/http1"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// tlsServer answers 200 and counts the requests that reach its handler.
func tlsServer(tb testing.TB, config *tls.Config) (*httptest.Server, *atomic.Int64) {
	tb.Helper()
	var handled atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		handled.Add(1)
	}))
	server.TLS = config
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0) // failed handshakes are what is tested
	server.StartTLS()
	tb.Cleanup(server.Close)
	return server, &handled
}

func TestCertificates(t *testing.T) {
	trusted, stranger := newAuthority(t, "Trusted"), newAuthority(t, "Stranger")
	own := selfSignedLeaf(t, nil)
	ownExpired := selfSignedLeaf(t, expired)
	namesake := newAuthority(t, "leaf") // as the leaves that it signs
	namesItself := template("leaf")     // signed by the trusted authority's key all the same
	namesAnother := template("Somebody Else")

	selfSignedResult := outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonSelfSigned, Detail: detailSelfSigned}
	refused := func(detail string) outcome.Outcome {
		return outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonTLS, Detail: detail}
	}
	tests := []struct {
		name  string
		cert  tls.Certificate
		roots *x509.CertPool
		want  outcome.Outcome
	}{
		{"good", trusted.leaf(t, nil), nil, outcome.Outcome{Verdict: outcome.Delivered}},
		{"self-signed", selfSignedLeaf(t, nil), nil, selfSignedResult},
		{"self-signed and expired", ownExpired, nil, selfSignedResult},
		{"self-signed for another host", selfSignedLeaf(t, otherHost), nil, selfSignedResult},
		{"self-signed in the root pool", own, pool(own.Leaf), selfSignedResult},
		{"self-signed and expired in the root pool", ownExpired, pool(ownExpired.Leaf), selfSignedResult},
		{"self-signed authority as its own server", selfSignedLeaf(t, authorityToo), nil, selfSignedResult},
		{"signed by its own key under another's name", pair(t, namesAnother, nil, nil), nil, selfSignedResult},
		{"names itself as issuer, signed by another key", pair(t, namesItself, trusted.key, nil), nil, refused(detailUnknownRoot)},
		{"of an authority of the same name", namesake.leaf(t, nil), pool(namesake.cert), outcome.Outcome{Verdict: outcome.Delivered}},
		{"signed over SHA-1", trusted.leaf(t, overSHA1), nil, refused(detailWeak)},
		{"expired", trusted.leaf(t, expired), nil, refused(detailExpired)},
		{"for another host", trusted.leaf(t, otherHost), nil, refused(detailWrongHost)},
		{"of an unknown authority", stranger.leaf(t, nil), nil, refused(detailUnknownRoot)},
		{"for clients only", trusted.leaf(t, clientsOnly), nil, refused(detailCertificate)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.roots == nil {
				test.roots = pool(trusted.cert)
			}
			server, handled := tlsServer(t, &tls.Config{Certificates: []tls.Certificate{test.cert}})
			client := newClient(t, Options{Dial: dialTo(server), Roots: test.roots})
			got := client.Post(t.Context(), newTarget(t, tlsURL), []byte("{}"), "")
			if !cmp.Equal(got, test.want) {
				t.Errorf("result %+v, want %+v", got, test.want)
			}
			want := int64(0)
			if test.want.Verdict == outcome.Delivered {
				want = 1
			}
			if handled.Load() != want {
				t.Errorf("%d requests reached the handler, want %d", handled.Load(), want)
			}
		})
	}
}

func authorityToo(cert *x509.Certificate) {
	cert.IsCA, cert.BasicConstraintsValid = true, true
}

func overSHA1(cert *x509.Certificate) { cert.SignatureAlgorithm = x509.ECDSAWithSHA1 }

func clientsOnly(cert *x509.Certificate) {
	cert.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
}

func TestServersThatRefuseTheHandshake(t *testing.T) {
	trusted := newAuthority(t, "Trusted")
	tests := map[string]*tls.Config{
		"TLS 1.0 alone":              {MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10},
		"TLS 1.1 alone":              {MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11},
		"wants a client certificate": {ClientAuth: tls.RequireAnyClientCert},
		"the same in TLS 1.2":        {ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12},
		"no curve in common":         {CurvePreferences: []tls.CurveID{tls.X25519MLKEM768}, MinVersion: tls.VersionTLS13},
		"gives up in mid-handshake":  {GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, io.ErrNoProgress }},
	}
	for name, config := range tests {
		t.Run(name, func(t *testing.T) {
			config.Certificates = []tls.Certificate{trusted.leaf(t, nil)}
			server, handled := tlsServer(t, config)
			client := newClient(t, Options{Dial: dialTo(server), Roots: pool(trusted.cert)})
			got := client.Post(t.Context(), newTarget(t, tlsURL), []byte("{}"), "")
			if want := (outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonTLS, Detail: detailTLS}); !cmp.Equal(got, want) {
				t.Errorf("result %+v, want %+v", got, want)
			}
			if handled.Load() != 0 {
				t.Errorf("%d requests reached the handler", handled.Load())
			}
		})
	}
}

func TestPlainServerBehindAnHTTPSURL(t *testing.T) {
	server, seen := recorder(t, fine)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	client := newClient(t, Options{Dial: dialTo(server)})
	got := client.Post(t.Context(), newTarget(t, tlsURL), []byte("{}"), "")
	if want := (outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonTLS, Detail: detailTLS}); !cmp.Equal(got, want) {
		t.Errorf("result %+v, want %+v", got, want)
	}
	if len(seen) != 0 {
		t.Error("a request reached the handler")
	}
}

// A connection that breaks says nothing about certificates.
func TestHangingUpInMidHandshake(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"at once": func(peer net.Conn) { _ = peer.Close() },
		"after the client's hello": func(peer net.Conn) {
			_, _ = peer.Read(make([]byte, 1<<16))
			_ = peer.Close()
		},
		"within a record": func(peer net.Conn) {
			_, _ = peer.Read(make([]byte, 1<<16))
			_, _ = peer.Write([]byte{22, 3, 3, 1, 0, 2, 0})
			_ = peer.Close()
		},
	} {
		client := newClient(t, Options{Dial: pipes(t, serve)})
		if got := client.Post(t.Context(), newTarget(t, tlsURL), []byte("{}"), ""); !cmp.Equal(got, isNetwork) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A resumed session skips the certificate, and with it VerifyPeerCertificate.
func TestResumedSessionsAreVerifiedToo(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		trusted := newAuthority(t, "Trusted")
		resumed := make(chan bool, 3)
		server, _ := tlsServer(t, &tls.Config{
			Certificates: []tls.Certificate{trusted.leaf(t, nil)},
			MaxVersion:   version,
			VerifyConnection: func(state tls.ConnectionState) error {
				resumed <- state.DidResume
				return nil
			},
		})
		server.Config.SetKeepAlivesEnabled(false)
		// Once the session is there, its certificate is no longer good enough.
		var strict bool
		policy := tlsConfig(pool(trusted.cert))
		policy.VerifyConnection = func(state tls.ConnectionState) error {
			if strict {
				return errSelfSigned
			}
			return refuseSelfSigned(state)
		}
		client := newClient(t, Options{})
		client.http1 = http1.New(http1.Options{Dial: dialTo(server), TLS: policy})
		target := newTarget(t, tlsURL)
		var got []outcome.Outcome
		for _, strict = range []bool{false, false, true} {
			got = append(got, client.Post(t.Context(), target, []byte("{}"), ""))
		}
		want := []outcome.Outcome{isDelivered, isDelivered, {Verdict: outcome.Dead, Reason: schemas.ReasonSelfSigned, Detail: detailSelfSigned}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("TLS %x: results (-want +got):\n%s", version, diff)
		}
		if first, second := <-resumed, <-resumed; first || !second {
			t.Errorf("TLS %x: resumed %t, then %t, want false, then true", version, first, second)
		}
	}
}

func TestRootsFile(t *testing.T) {
	extra := newAuthority(t, "Extra")
	good := pemOf(extra.cert)
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "roots.pem")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}

	roots, err := LoadRoots(write("a comment\n" + string(good) + "\n" + string(good)))
	if err != nil {
		t.Fatal(err)
	}
	server, _ := tlsServer(t, &tls.Config{Certificates: []tls.Certificate{extra.leaf(t, nil)}})
	client := newClient(t, Options{Dial: dialTo(server), Roots: roots})
	if got := client.Post(t.Context(), newTarget(t, tlsURL), []byte("{}"), ""); got.Verdict != outcome.Delivered {
		t.Errorf("signed by a root of the file: %+v", got)
	}

	broken := strings.Replace(string(good), "MII", "AII", 1)
	for name, file := range map[string]string{
		"find a PEM certificate": write(""),
		"there is none":          write("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
		"parse certificate 2":    write(string(good) + broken),
		"read roots":             filepath.Join(t.TempDir(), "absent"),
	} {
		if _, err := LoadRoots(file); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q in it", err, name)
		}
	}
}

func TestSystemRootsStay(t *testing.T) {
	system, err := x509.SystemCertPool()
	if err != nil {
		t.Skipf("no system roots here: %v", err)
	}
	file := filepath.Join(t.TempDir(), "roots.pem")
	extra := newAuthority(t, "Extra")
	if err = os.WriteFile(file, pemOf(extra.cert), 0o600); err != nil {
		t.Fatal(err)
	}
	roots, err := LoadRoots(file)
	if err != nil {
		t.Fatal(err)
	}
	system.AddCert(extra.cert)
	if !roots.Equal(system) {
		t.Error("roots are not the system's and the file's")
	}
}
