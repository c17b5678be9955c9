package certs

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// checkEvery is how often the files are read again, at most: two reads of a few
// kilobytes.
const checkEvery = time.Second

// A Pair is a certificate with its key, from two PEM files. It is made by [Load]
// and safe for concurrent use.
//
// The files are looked at when a client connects, and compared as a whole: a time
// stamp says nothing where a symbolic link is turned to another folder, which is
// how certificates are exchanged in containers. Whoever replaces the two files
// does so one after the other, so for a moment they don't belong together. Until
// a pair can be used the one before stays in use; one that stays unusable from one
// look to the next is worth one warning.
type Pair struct {
	certFile, keyFile string
	log               *slog.Logger
	current           atomic.Pointer[tls.Certificate]

	// A client that connects while another one's look is under way gets what is
	// current.
	looking  sync.Mutex
	looked   time.Time
	used     content
	refused  content // the last that could not be used
	reported bool    // whether refused is in the log
}

// content is what is in the two files. A file that can't be read has none.
type content struct{ cert, key string }

// Load reads the two files. The error names the file that it is about.
func Load(certFile, keyFile string, log *slog.Logger) (*Pair, error) {
	p := &Pair{certFile: certFile, keyFile: keyFile, log: log, looked: time.Now()}
	files, certificate, err := p.read()
	if err != nil {
		return nil, err
	}
	p.use(files, certificate)
	return p, nil
}

// Config returns a configuration for a server that presents the pair: TLS 1.2 at
// least, the choice of suites and curves left to crypto/tls.
func (p *Pair) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: p.Certificate}
}

// Certificate is for [tls.Config.GetCertificate]. It never fails.
func (p *Pair) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if p.looking.TryLock() {
		p.look()
		p.looking.Unlock()
	}
	return p.current.Load(), nil
}

// look takes over what is new in the files.
func (p *Pair) look() {
	now := time.Now()
	if now.Sub(p.looked) < checkEvery {
		return
	}
	p.looked = now
	files, certificate, err := p.read()
	switch {
	case err != nil:
		p.refuse(files, err)
	case files != p.used:
		p.use(files, certificate)
		p.log.Info("certificate replaced", "file", p.certFile, "expires", certificate.Leaf.NotAfter)
	default:
		p.refused, p.reported = content{}, false
	}
}

// read returns what is in the files, also when they make no pair.
func (p *Pair) read() (content, *tls.Certificate, error) {
	cert, certErr := os.ReadFile(p.certFile)
	key, keyErr := os.ReadFile(p.keyFile)
	files := content{string(cert), string(key)}
	if err := errors.Join(unreadable(certErr), unreadable(keyErr)); err != nil {
		return files, nil, err
	}
	certificate, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return files, nil, fmt.Errorf("read certificate %s and key %s: %w", p.certFile, p.keyFile, err)
	}
	return files, &certificate, nil
}

// unreadable puts the name of the file first.
func unreadable(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("read %s: %w", path.Path, path.Err)
	}
	return err
}

func (p *Pair) use(files content, certificate *tls.Certificate) {
	p.used, p.refused, p.reported = files, content{}, false
	p.current.Store(certificate)
	if now := time.Now(); now.After(certificate.Leaf.NotAfter) {
		p.log.Warn("certificate has expired: clients will refuse it", "file", p.certFile, "expired", certificate.Leaf.NotAfter)
	}
}

// refuse leaves the current pair in use. What is seen for the first time may be
// half of a replacement.
func (p *Pair) refuse(files content, err error) {
	if first := files != p.refused; first {
		p.refused, p.reported = files, false
		return
	}
	if !p.reported {
		p.reported = true
		p.log.Warn("certificate can't be replaced, the one before stays in use", "error", err, "expires", p.current.Load().Leaf.NotAfter)
	}
}
