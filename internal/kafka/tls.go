package kafka

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// tlsConfig returns how to speak TLS to the brokers; nil: not at all. A file of
// roots takes the place of the system's: whoever runs brokers with a CA of their
// own does not mean to trust a broker that any public one has signed.
func (c Config) tlsConfig(log *slog.Logger) (*tls.Config, error) {
	if !c.TLS {
		return nil, c.tlsUnused()
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.TLSServerName}
	roots, rootsErr := c.roots()
	config.RootCAs = roots
	own, ownErr := c.clientCertificate(log)
	if err := errors.Join(rootsErr, ownErr); err != nil {
		return nil, err
	}
	if own != nil {
		config.GetClientCertificate = own.present
	}
	return config, nil
}

// tlsUnused is an error when something of TLS is set that KAFKA_TLS leaves without
// effect: the connection would not be what its operator takes it for.
func (c Config) tlsUnused() error {
	var errs []error
	for _, s := range []struct{ variable, value string }{
		{"KAFKA_TLS_CA_FILE", c.TLSCAFile},
		{"KAFKA_TLS_CERT_FILE", c.TLSCertFile},
		{"KAFKA_TLS_KEY_FILE", c.TLSKeyFile},
		{"KAFKA_TLS_SERVER_NAME", c.TLSServerName},
	} {
		if s.value != "" {
			errs = append(errs, fmt.Errorf("%s=%s but KAFKA_TLS is false: expected KAFKA_TLS=true", s.variable, s.value))
		}
	}
	return errors.Join(errs...)
}

// roots returns nil for the system's.
func (c Config) roots() (*x509.CertPool, error) {
	if c.TLSCAFile == "" {
		return nil, nil
	}
	const expected = "expected a PEM file of the brokers' CA"
	pem, err := os.ReadFile(c.TLSCAFile)
	if err != nil {
		return nil, fmt.Errorf("KAFKA_TLS_CA_FILE=%s: %s: %w", c.TLSCAFile, expected, unreadable(err))
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("KAFKA_TLS_CA_FILE=%s: it holds no certificate: %s", c.TLSCAFile, expected)
	}
	return roots, nil
}

// clientCertificate returns nil where brokers are not shown one.
func (c Config) clientCertificate(log *slog.Logger) (*clientCertificate, error) {
	switch {
	case c.TLSCertFile == "" && c.TLSKeyFile == "":
		return nil, nil
	case c.TLSCertFile == "":
		return nil, fmt.Errorf("KAFKA_TLS_CERT_FILE is empty: expected the certificate of KAFKA_TLS_KEY_FILE=%s", c.TLSKeyFile)
	case c.TLSKeyFile == "":
		return nil, fmt.Errorf("KAFKA_TLS_KEY_FILE is empty: expected the key of KAFKA_TLS_CERT_FILE=%s", c.TLSCertFile)
	}
	own := &clientCertificate{certFile: c.TLSCertFile, keyFile: c.TLSKeyFile, log: log}
	if _, err := own.read(); err != nil {
		return nil, fmt.Errorf("KAFKA_TLS_CERT_FILE=%s, KAFKA_TLS_KEY_FILE=%s: expected PEM files of a certificate and its key: %w", c.TLSCertFile, c.TLSKeyFile, unreadable(err))
	}
	return own, nil
}

// clientCertificate is our own, which brokers know us by. It is read for each
// connection, of which there are a few a minute at most: short-lived certificates
// are exchanged while the process runs.
type clientCertificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu   sync.Mutex
	last *tls.Certificate
}

// present is for [tls.Config.GetClientCertificate]. Whoever replaces two files does
// so one after the other: what can't be used leaves the last one in use.
func (c *clientCertificate) present(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh, err := c.read()
	switch {
	case err == nil:
		c.last = fresh
	case c.last == nil:
		return nil, err
	default:
		c.log.Warn("client certificate for the brokers can't be read, the one before is used", "file", c.certFile, "error", err)
	}
	if expired := c.last.Leaf.NotAfter; time.Now().After(expired) {
		c.log.Error("client certificate for the brokers has expired: they will refuse it", "file", c.certFile, "variable", "KAFKA_TLS_CERT_FILE", "expired", expired)
	}
	return c.last, nil
}

func (c *clientCertificate) read() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return nil, fmt.Errorf("read certificate %s and key %s: %w", c.certFile, c.keyFile, err)
	}
	return &pair, nil
}

// unreadable leaves the path out of an error that is said next to it.
func unreadable(err error) error {
	path, _ := errors.AsType[*fs.PathError](err)
	if path == nil {
		return err
	}
	return cmp.Or(path.Err, err)
}
