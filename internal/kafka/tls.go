package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/anabranch/anabranch/internal/certs"
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
		config.GetClientCertificate = own.ClientCertificate
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
		return nil, fmt.Errorf("KAFKA_TLS_CA_FILE=%s: %s: %w", c.TLSCAFile, expected, cause(err))
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("KAFKA_TLS_CA_FILE=%s: it holds no certificate: %s", c.TLSCAFile, expected)
	}
	return roots, nil
}

// clientCertificate returns nil where brokers are not shown one.
func (c Config) clientCertificate(log *slog.Logger) (*certs.Pair, error) {
	switch {
	case c.TLSCertFile == "" && c.TLSKeyFile == "":
		return nil, nil
	case c.TLSCertFile == "":
		return nil, fmt.Errorf("KAFKA_TLS_CERT_FILE is empty: expected the certificate of KAFKA_TLS_KEY_FILE=%s", c.TLSKeyFile)
	case c.TLSKeyFile == "":
		return nil, fmt.Errorf("KAFKA_TLS_KEY_FILE is empty: expected the key of KAFKA_TLS_CERT_FILE=%s", c.TLSCertFile)
	}
	own, err := certs.Load(c.TLSCertFile, c.TLSKeyFile, log.With("variable", "KAFKA_TLS_CERT_FILE"))
	if err != nil {
		return nil, fmt.Errorf("KAFKA_TLS_CERT_FILE=%s, KAFKA_TLS_KEY_FILE=%s: expected PEM files of a certificate and its key: %w", c.TLSCertFile, c.TLSKeyFile, err)
	}
	return own, nil
}

// cause leaves the path out of an error that is said next to it.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
