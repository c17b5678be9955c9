package certs_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/internal/certs"
	"github.com/anabranch/anabranch/test/virtual"
)

// files are a certificate's, in a folder of the test.
type files struct{ cert, key string }

func newFiles(t *testing.T) files {
	t.Helper()
	dir := t.TempDir()
	return files{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
}

func (f files) write(t *testing.T, cert, key string) {
	t.Helper()
	for name, text := range map[string]string{f.cert: cert, f.key: key} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// generate returns a self-signed pair for a name.
func generate(t *testing.T, name string, expires time.Time) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: expires}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", secret)
}

// log is a logger and what it has written.
func log() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

// presented is the name in the certificate that a client would see now.
func presented(t *testing.T, p *certs.Pair) string {
	t.Helper()
	certificate, err := p.Certificate(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return certificate.Leaf.Subject.CommonName
}

func load(t *testing.T, f files, log *slog.Logger) *certs.Pair {
	t.Helper()
	p, err := certs.Load(f.cert, f.key, log)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pair is a certificate with its key, as PEM.
type pair struct{ cert, key string }

func valid(t *testing.T, name string) pair {
	t.Helper()
	cert, key := generate(t, name, time.Now().Add(time.Hour))
	return pair{cert, key}
}

func TestANewPairIsInUseASecondLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, first, second := newFiles(t), valid(t, "first"), valid(t, "second")
		log, text := log()
		f.write(t, first.cert, first.key)
		p := load(t, f, log)
		f.write(t, second.cert, second.key)
		if got := presented(t, p); got != "first" {
			t.Errorf("got %s: the files are looked at more than once a second", got)
		}
		for range 3 {
			virtual.Sleep(time.Second)
			if got := presented(t, p); got != "second" {
				t.Errorf("a second later: got %s", got)
			}
		}
		if got := strings.Count(text.String(), `msg="certificate replaced"`); got != 1 {
			t.Errorf("%d lines, want one:\n%s", got, text)
		}
	})
}

// TestAReplacementInTwoSteps is one that a client sees the middle of.
func TestAReplacementInTwoSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, first, second := newFiles(t), valid(t, "first"), valid(t, "second")
		log, text := log()
		f.write(t, first.cert, first.key)
		p := load(t, f, log)
		for _, step := range []struct {
			pair
			want string
		}{
			{pair{second.cert, first.key}, "first"},
			{second, "second"},
			{pair{first.cert, second.key}, "second"},
			{first, "first"},
		} {
			f.write(t, step.cert, step.key)
			virtual.Sleep(time.Second)
			if got := presented(t, p); got != step.want {
				t.Errorf("got %s, want %s", got, step.want)
			}
		}
		if strings.Contains(text.String(), "level=WARN") {
			t.Errorf("a replacement is no reason to warn:\n%s", text)
		}
	})
}

func TestABrokenPairLeavesTheOldOneInUse(t *testing.T) {
	first, second := valid(t, "first"), valid(t, "second")
	for name, c := range map[string]struct {
		pair
		cause string
	}{
		"another's key":     {pair{first.cert, second.key}, "private key does not match public key"},
		"an empty file":     {pair{"", first.key}, "failed to find any PEM data"},
		"half a file":       {pair{first.cert[:len(first.cert)/2], first.key}, "failed to find any PEM data"},
		"files in reverse":  {pair{first.key, first.cert}, "failed to find certificate PEM data"},
		"a text about keys": {pair{first.cert, "see the vault"}, "failed to find any PEM data"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFiles(t)
				log, text := log()
				f.write(t, first.cert, first.key)
				p := load(t, f, log)
				f.write(t, c.cert, c.key)
				for range 5 {
					virtual.Sleep(time.Second)
					if got := presented(t, p); got != "first" {
						t.Errorf("got %s", got)
					}
				}
				if got := text.String(); strings.Count(got, "level=WARN") != 1 || !strings.Contains(got, c.cause) {
					t.Errorf("want one warning with %q, got:\n%s", c.cause, got)
				}
				if strings.Contains(text.String(), "PRIVATE") {
					t.Errorf("the log tells of the key: %s", text)
				}
				f.write(t, second.cert, second.key)
				virtual.Sleep(time.Second)
				if got := presented(t, p); got != "second" {
					t.Errorf("once the pair is good: got %s", got)
				}
			})
		})
	}
}

func TestFilesThatAreGoneForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, first := newFiles(t), valid(t, "first")
		log, text := log()
		f.write(t, first.cert, first.key)
		p := load(t, f, log)
		if err := os.Remove(f.key); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			virtual.Sleep(time.Second)
			presented(t, p)
		}
		if got := text.String(); !strings.Contains(got, "read "+f.key+": no such file") {
			t.Errorf("the warning does not name the file:\n%s", got)
		}
		// What was in use comes back: nothing is new.
		f.write(t, first.cert, first.key)
		virtual.Sleep(time.Second)
		if got := presented(t, p); got != "first" || strings.Contains(text.String(), "certificate replaced") {
			t.Errorf("got %s, log:\n%s", got, text)
		}
		// Gone for a second time, it is worth a second warning.
		if err := os.Remove(f.key); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			virtual.Sleep(time.Second)
			presented(t, p)
		}
		if got := strings.Count(text.String(), "level=WARN"); got != 2 {
			t.Errorf("%d warnings, want 2:\n%s", got, text)
		}
	})
}

// TestALinkThatIsTurned exchanges the folder, as containers do: the files of the
// new one may even be the older ones.
func TestALinkThatIsTurned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, first, second := t.TempDir(), valid(t, "first"), valid(t, "second")
		live := filepath.Join(dir, "live")
		for name, p := range map[string]pair{"2": second, "1": first} {
			if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
			files{filepath.Join(dir, name, "cert.pem"), filepath.Join(dir, name, "key.pem")}.write(t, p.cert, p.key)
		}
		if err := os.Symlink("1", live); err != nil {
			t.Fatal(err)
		}
		log, _ := log()
		p := load(t, files{filepath.Join(live, "cert.pem"), filepath.Join(live, "key.pem")}, log)
		if err := os.Symlink("2", live+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(live+".new", live); err != nil {
			t.Fatal(err)
		}
		virtual.Sleep(time.Second)
		if got := presented(t, p); got != "second" {
			t.Errorf("got %s", got)
		}
	})
}

func TestAnExpiredCertificateIsUsedAndReported(t *testing.T) {
	f := newFiles(t)
	cert, key := generate(t, "old", time.Now().Add(-time.Hour))
	f.write(t, cert, key)
	log, text := log()
	if got := presented(t, load(t, f, log)); got != "old" {
		t.Errorf("got %s", got)
	}
	if !strings.Contains(text.String(), "certificate has expired") {
		t.Errorf("log: %s", text)
	}
}

func TestLoadNamesWhatIsWrong(t *testing.T) {
	f, first := newFiles(t), valid(t, "first")
	log, _ := log()
	_, err := certs.Load(f.cert, f.key, log)
	if want := "read " + f.cert + ": no such file or directory\nread " + f.key + ": no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("no files: got %v\nwant %s", err, want)
	}
	f.write(t, first.cert, valid(t, "second").key)
	_, err = certs.Load(f.cert, f.key, log)
	if want := "read certificate " + f.cert + " and key " + f.key + ": tls: private key does not match public key"; err == nil || err.Error() != want {
		t.Errorf("not a pair: got %v\nwant %s", err, want)
	}
}

func TestConfigRefusesOldVersions(t *testing.T) {
	f, first := newFiles(t), valid(t, "first")
	f.write(t, first.cert, first.key)
	log, _ := log()
	if got := load(t, f, log).Config().MinVersion; got != tls.VersionTLS12 {
		t.Errorf("the least version is %s", tls.VersionName(got))
	}
}
