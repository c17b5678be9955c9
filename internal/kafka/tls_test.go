package kafka

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/test/testkit"
)

func TestTLSNamesWhatCannotWork(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	own := ca.issue(t, "router", time.Now().Add(time.Hour))
	other := ca.issue(t, "other", time.Now().Add(time.Hour))
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config Config
		want   []string // parts of the error; none: the configuration is good
	}{
		"the system's roots":     {config: Config{TLS: true}},
		"a CA":                   {config: Config{TLS: true, TLSCAFile: ca.file, TLSServerName: "kafka"}},
		"a certificate":          {config: Config{TLS: true, TLSCertFile: own.cert, TLSKeyFile: own.key}},
		"no such CA":             {Config{TLS: true, TLSCAFile: "/none"}, []string{"KAFKA_TLS_CA_FILE=/none", "no such file", "expected a PEM file"}},
		"a CA that is empty":     {Config{TLS: true, TLSCAFile: empty}, []string{"KAFKA_TLS_CA_FILE=" + empty, "no certificate"}},
		"a CA that is a key":     {Config{TLS: true, TLSCAFile: own.key}, []string{"KAFKA_TLS_CA_FILE=", "no certificate"}},
		"a certificate, no key":  {Config{TLS: true, TLSCertFile: own.cert}, []string{"KAFKA_TLS_KEY_FILE is empty", own.cert}},
		"a key, no certificate":  {Config{TLS: true, TLSKeyFile: own.key}, []string{"KAFKA_TLS_CERT_FILE is empty", own.key}},
		"another one's key":      {Config{TLS: true, TLSCertFile: own.cert, TLSKeyFile: other.key}, []string{"KAFKA_TLS_CERT_FILE=" + own.cert, "KAFKA_TLS_KEY_FILE=" + other.key}},
		"no such certificate":    {Config{TLS: true, TLSCertFile: "/none", TLSKeyFile: own.key}, []string{"KAFKA_TLS_CERT_FILE=/none", "no such file"}},
		"a CA without TLS":       {Config{TLSCAFile: ca.file}, []string{"KAFKA_TLS_CA_FILE=" + ca.file, "expected KAFKA_TLS=true"}},
		"a name without TLS":     {Config{TLSServerName: "kafka"}, []string{"KAFKA_TLS_SERVER_NAME=kafka", "expected KAFKA_TLS=true"}},
		"files without TLS":      {Config{TLSCertFile: own.cert, TLSKeyFile: own.key}, []string{"KAFKA_TLS_CERT_FILE=", "KAFKA_TLS_KEY_FILE="}},
		"two mistakes, two said": {Config{TLS: true, TLSCAFile: "/none", TLSCertFile: own.cert}, []string{"KAFKA_TLS_CA_FILE", "KAFKA_TLS_KEY_FILE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.config.Validate()
			if (err == nil) != (len(c.want) == 0) {
				t.Fatalf("Validate = %v", err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Validate = %q, want %q in it", err, part)
				}
			}
			_, optsErr := c.config.Options(slog.New(slog.DiscardHandler))
			if (optsErr == nil) != (err == nil) {
				t.Errorf("Validate = %v, and Options = %v", err, optsErr)
			}
		})
	}
}

// TestCertificatesAreExchangedWhileItRuns: what brokers are shown is what is in the
// files when a connection is made, and while those are half written, what was in
// them before.
func TestCertificatesAreExchangedWhileItRuns(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	var seen atomic.Value
	broker := ca.issue(t, "broker", time.Now().Add(time.Hour))
	cluster := testkit.Fake(t, kfake.NumBrokers(1), kfake.TLS(ca.serving(t, broker, func(name string) { seen.Store(name) })))
	own := ca.issue(t, "first", time.Now().Add(time.Hour))
	config := Config{Brokers: cluster.Addrs, TLS: true, TLSCAFile: ca.file, TLSCertFile: own.cert, TLSKeyFile: own.key}
	var log testkit.Logs
	opts, err := config.Options(log.Logger())
	if err != nil {
		t.Fatal(err)
	}
	connect := func(want string) {
		t.Helper()
		cl, err := kgo.NewClient(opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer cl.Close()
		if err := cl.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := seen.Load(); got != want {
			t.Errorf("the broker was shown the certificate of %v, want %s", got, want)
		}
	}
	connect("first")
	ca.reissue(t, own, "second", time.Now().Add(time.Hour))
	connect("second")
	if err := os.WriteFile(own.cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	connect("second")
	if !strings.Contains(log.String(), "can't be replaced") {
		t.Errorf("the log says nothing of a certificate that can't be read:\n%s", log.String())
	}
	ca.reissue(t, own, "third", time.Now().Add(time.Hour))
	connect("third")
}

// TestAnExpiredCertificateIsSaid, which brokers refuse without a word of ours.
func TestAnExpiredCertificateIsSaid(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	broker := ca.issue(t, "broker", time.Now().Add(time.Hour))
	cluster := testkit.Fake(t, kfake.NumBrokers(1), kfake.TLS(ca.serving(t, broker, func(string) {})))
	own := ca.issue(t, "late", time.Now().Add(-time.Minute))
	text, err := awaitIn(t, Config{Brokers: cluster.Addrs, TLS: true, TLSCAFile: ca.file, TLSCertFile: own.cert, TLSKeyFile: own.key}, "expired")
	if err == nil {
		t.Fatal("the broker let us in")
	}
	for _, part := range []string{"has expired", "KAFKA_TLS_CERT_FILE", "brokers refuse our certificate"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in the log:\n%s", part, text)
		}
	}
}

// awaitIn runs Await until the log holds a text, and the wait for a broker's
// complaint with it.
func awaitIn(t *testing.T, config Config, text string) (string, error) {
	t.Helper()
	var log testkit.Logs
	opts, err := config.Options(log.Logger())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- Await(ctx, opts, config.Brokers, log.Logger()) }()
	testkit.Until(t, func() bool {
		return strings.Contains(log.String(), text) && strings.Contains(log.String(), "the brokers refuse the connection") || len(done) > 0
	}, "a word about "+text)
	cancel()
	return log.String(), <-done
}
