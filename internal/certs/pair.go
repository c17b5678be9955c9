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

	"github.com/anabranch/anabranch/internal/logging"
)

const (
	// checkEvery is how often the files of a server are read again, at most: two reads
	// of a few kilobytes.
	checkEvery = time.Second
	// expiredEvery is how often it is said that the certificate has expired.
	expiredEvery = time.Hour
)

// A Pair is a certificate with its key, from two PEM files. It is made by [Load]
// and safe for concurrent use.
//
// The files are looked at when a connection is made, and compared as a whole: a time
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
	expired  logging.Sampler[string]
}

// content is what is in the two files. A file that can't be read has none.
type content struct{ cert, key string }

// Load reads the two files. The error names the file that it is about.
func Load(certFile, keyFile string, log *slog.Logger) (*Pair, error) {
	p := &Pair{certFile: certFile, keyFile: keyFile, log: log, looked: time.Now(), expired: logging.Sampler[string]{Every: expiredEvery}}
	files, certificate, err := p.read()
	if err != nil {
		return nil, err
	}
	p.use(files, certificate)
	p.checkExpiry(p.looked)
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
		if now := time.Now(); now.Sub(p.looked) >= checkEvery {
			p.look(now, false)
		}
		p.looking.Unlock()
	}
	return p.current.Load(), nil
}

// ClientCertificate is for [tls.Config.GetClientCertificate], and never fails. It looks
// at the files each time: a client makes a few connections a minute at most, so what
// can't be used now may be what it presents for long, and is told at once.
func (p *Pair) ClientCertificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	p.looking.Lock()
	defer p.looking.Unlock()
	p.look(time.Now(), true)
	return p.current.Load(), nil
}

// look takes over what is new in the files, and tells of what can't be used: at once,
// or when it is still so at the next look.
func (p *Pair) look(now time.Time, atOnce bool) {
	p.looked = now
	files, certificate, err := p.read()
	switch {
	case err != nil:
		p.refuse(files, err, atOnce)
	case files != p.used:
		p.use(files, certificate)
		p.log.Info("certificate replaced", "file", p.certFile, "expires", certificate.Leaf.NotAfter)
	default:
		p.refused, p.reported = content{}, false
	}
	p.checkExpiry(now)
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
}

func (p *Pair) checkExpiry(now time.Time) {
	expires := p.current.Load().Leaf.NotAfter
	if !now.After(expires) {
		return
	}
	if _, ok := p.expired.Admit(expires.String(), now); ok {
		p.log.Error("certificate has expired: whoever it is presented to will refuse it", "file", p.certFile, "expired", expires)
	}
}

// refuse leaves the current pair in use. What is seen for the first time may be
// half of a replacement.
func (p *Pair) refuse(files content, err error, atOnce bool) {
	if first := files != p.refused; first {
		p.refused, p.reported = files, false
		if !atOnce {
			return
		}
	}
	if !p.reported {
		p.reported = true
		p.log.Warn("certificate can't be replaced, the previous one stays in use", "error", err, "expires", p.current.Load().Leaf.NotAfter)
	}
}
