package securitytest

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/anabranch/anabranch/internal/kafka"
)

// TestEachWayToConnect: a broker answers all that the settings offer.
func TestEachWayToConnect(t *testing.T) {
	n := secured(t)
	for name, who := range map[string]identity{
		"TLS":           {"User:ANONYMOUS", kafka.Config{Brokers: []string{n.tls()}, TLS: true, TLSCAFile: n.ca.file}},
		"mutual TLS":    n.certified(t, "somebody"),
		"PLAIN":         n.plain(),
		"SCRAM-SHA-256": n.scram(t, kadm.ScramSha256, "scram256"),
		"SCRAM-SHA-512": n.scram(t, kadm.ScramSha512, "scram512"),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := await(t, who.config, ""); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWhatIsWrongIsNamed: whoever can't connect reads in the log, within five
// seconds, which variable to look at.
func TestWhatIsWrongIsNamed(t *testing.T) {
	n := secured(t)
	n.scram(t, kadm.ScramSha256, "known")
	stranger, err := newAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := stranger.issue("admin")
	if err != nil {
		t.Fatal(err)
	}
	with := func(base identity, change func(*kafka.Config)) kafka.Config {
		change(&base.config)
		return base.config
	}
	for name, c := range map[string]struct {
		config kafka.Config
		want   string
	}{
		"a wrong password":             {with(n.plain(), func(c *kafka.Config) { c.Password = "wrong" }), "KAFKA_PASSWORD"},
		"a wrong password, SCRAM":      {n.named("SCRAM-SHA-512", "known", "wrong").config, "KAFKA_PASSWORD"},
		"a mechanism without the user": {n.named("SCRAM-SHA-512", "known", "known-secret").config, "KAFKA_SASL_MECHANISM"},
		"an unknown user":              {n.named("SCRAM-SHA-256", "nobody", "x").config, "KAFKA_USERNAME"},
		"no authentication":            {with(n.plain(), func(c *kafka.Config) { c.SASLMechanism, c.Username, c.Password = "", "", "" }), "KAFKA_SASL_MECHANISM"},
		"a port without it":            {with(n.plain(), func(c *kafka.Config) { c.Brokers = []string{n.tls()} }), "KAFKA_SASL_MECHANISM"},
		"no TLS":                       {kafka.Config{Brokers: []string{n.tls()}}, "KAFKA_TLS"},
		"no TLS, authentication":       {kafka.Config{Brokers: []string{n.sasl()}, SASLMechanism: "PLAIN", Username: "plain", Password: "plain-secret"}, "KAFKA_TLS"},
		"an unknown CA":                {kafka.Config{Brokers: []string{n.tls()}, TLS: true, TLSCAFile: stranger.file}, "KAFKA_TLS_CA_FILE"},
		"the system's roots":           {kafka.Config{Brokers: []string{n.tls()}, TLS: true}, "KAFKA_TLS_CA_FILE"},
		"another name":                 {kafka.Config{Brokers: []string{n.tls()}, TLS: true, TLSCAFile: n.ca.file, TLSServerName: "kafka.internal"}, "KAFKA_TLS_SERVER_NAME"},
		"no certificate":               {kafka.Config{Brokers: []string{n.mtls()}, TLS: true, TLSCAFile: n.ca.file}, "KAFKA_TLS_CERT_FILE"},
		"a stranger's certificate":     {kafka.Config{Brokers: []string{n.mtls()}, TLS: true, TLSCAFile: n.ca.file, TLSCertFile: foreign.certFile, TLSKeyFile: foreign.keyFile}, "KAFKA_TLS_CERT_FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := await(t, c.config, c.want)
			if err == nil {
				t.Fatal("the broker let us in")
			}
			if !strings.Contains(log, c.want) {
				t.Errorf("the log names no %s:\n%s", c.want, log)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error names no %s: %v", c.want, err)
			}
		})
	}
}

// await connects for five seconds at most and returns what was logged meanwhile. It
// ends sooner once the log holds a text.
func await(t *testing.T, config kafka.Config, enough string) (log string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	out := &screen{enough: enough, then: cancel}
	logger := slog.New(kafka.Advising(slog.NewTextHandler(out, nil)))
	opts, err := config.Options(logger)
	if err != nil {
		t.Fatal(err)
	}
	err = kafka.Await(ctx, opts, config.Brokers, logger)
	return out.String(), err
}
