package ingest

import (
	"crypto/tls"
	"fmt"
	"log/slog"

	"github.com/anabranch/anabranch/internal/certs"
)

// serverTLS returns the listener's TLS, with the certificate and key from two
// PEM files that are read again when they change. It is nil, which means plain
// HTTP, when neither file is set; one without the other is a mistake that must
// not end in plain HTTP.
func serverTLS(certFile, keyFile string, log *slog.Logger) (*tls.Config, error) {
	switch {
	case certFile == "" && keyFile == "":
		return nil, nil
	case certFile == "":
		return nil, fmt.Errorf("INGEST_TLS_CERT_FILE is empty: expected the certificate that belongs to INGEST_TLS_KEY_FILE=%s", keyFile)
	case keyFile == "":
		return nil, fmt.Errorf("INGEST_TLS_KEY_FILE is empty: expected the key that belongs to INGEST_TLS_CERT_FILE=%s", certFile)
	}
	pair, err := certs.Load(certFile, keyFile, log)
	if err != nil {
		return nil, fmt.Errorf("INGEST_TLS_CERT_FILE=%s, INGEST_TLS_KEY_FILE=%s: expected a certificate and its key as PEM files: %w", certFile, keyFile, err)
	}
	return pair.Config(), nil
}
