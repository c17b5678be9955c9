package broker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/anabranch/anabranch/internal/broker/datadir"
	"github.com/anabranch/anabranch/schemas"
)

// A Broker is an open embedded broker: it holds its data directory and its port, and serves clients.
type Broker struct {
	addr     string
	dir      datadir.Dir
	password schemas.Secret
	bootID   string
	logDir   string
	every    time.Duration
	readers  func(topic string) []string
	intake   *intake
	log      *slog.Logger
	lock     *dirLock
	cluster  *kfake.Cluster

	closing sync.Once
	closed  atomic.Bool
	result  error
}

// Open closes the data directory to other users and locks it, binds the address, repairs what a kill may have left behind
// and loads the log. When it returns, the broker serves clients that know its password, which is in a file of the
// directory. It fails with an error that names DATA_DIR or BROKER_ADDR when another process has the directory or the port,
// when the directory can't be written to or closed, and when its log is unreadable. The process's umask becomes 077.
//
// Either Run or Close must follow.
func Open(cfg Config, log *slog.Logger) (_ *Broker, err error) {
	if err = cfg.Validate(); err != nil {
		return nil, err
	}
	dir, err := datadir.Open(cfg.DataDir, log)
	if err != nil {
		return nil, err
	}
	lock, err := lockDir(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.release())
		}
	}()
	password, err := dir.Secret(datadir.BrokerPassword)
	if err != nil {
		return nil, err
	}
	listener, err := listen(cfg.Addr, log)
	if err != nil {
		return nil, err
	}
	logDir := filepath.Join(cfg.DataDir, datadir.Log)
	cluster, err := load(logDir, listener, password, log)
	if err != nil {
		// The load may have failed before the listener was handed over; a second Close is harmless.
		listener.Close() //nolint:errcheck // nothing was ever accepted on it
		return nil, fmt.Errorf("open the log in DATA_DIR=%s: %w", cfg.DataDir, err)
	}
	every := cfg.RetentionEvery
	if every == 0 {
		every = defaultRetentionEvery
	}
	return &Broker{
		addr: listener.Addr().String(), dir: dir, password: password, bootID: newBootID(), logDir: logDir, every: every,
		readers: cfg.Readers, intake: newIntake(&cfg, log), log: log, lock: lock, cluster: cluster,
	}, nil
}

// load repairs a log directory and starts a broker on it.
func load(logDir string, listener net.Listener, password schemas.Secret, log *slog.Logger) (*kfake.Cluster, error) {
	began := time.Now()
	if err := repair(logDir, log); err != nil {
		return nil, err
	}
	if err := forgetUsers(logDir); err != nil {
		return nil, err
	}
	cluster, err := kfake.NewCluster(options(logDir, listener, password, log)...)
	if err != nil {
		return nil, err
	}
	shares{most: make(map[bound]int)}.use(cluster)
	if err = offerHandshake(cluster); err != nil {
		cluster.Close()
		return nil, err
	}
	log.Info("embedded broker loaded its log", "dir", logDir, "addr", listener.Addr().String(), "took", time.Since(began).Round(time.Millisecond))
	return cluster, nil
}

// newBootID draws 80 random bits: a clock may be set back, a counter may be restored from a backup.
func newBootID() string { return strings.ToLower(rand.Text()[:16]) }

// Name is "broker".
func (*Broker) Name() string { return "broker" }

// Addr returns the address that clients connect to, host:port.
func (b *Broker) Addr() string { return b.addr }

// Password returns what clients authenticate with as [User], by [Mechanism].
func (b *Broker) Password() schemas.Secret { return b.password }

// AdminToken returns the token that lets programs of this user change things at the admin address. It is made in the data
// directory, as the password is.
func (b *Broker) AdminToken() (schemas.Secret, error) { return b.dir.Secret(datadir.AdminToken) }

// Tell says what this process runs with, for programs of this user: variables and their values, without secrets. It is in a
// file of the data directory while the broker is open.
func (b *Broker) Tell(variables map[string]string) error { return b.dir.WriteSettings(variables) }

// BootID returns a word that differs each time a broker is opened: 16 letters and digits. Transactional ids that contain
// it were never in use before.
func (b *Broker) BootID() string { return b.bootID }

// Ready returns nil from Open until the broker is closed.
func (b *Broker) Ready() error {
	if b.closed.Load() {
		return errors.New("closed")
	}
	return nil
}

// Run trims the log on a timer until ctx ends, then closes the broker and returns what Close returns.
func (b *Broker) Run(ctx context.Context) error {
	if err := b.retain(ctx); err != nil {
		return errors.Join(err, b.Close())
	}
	return b.Close()
}

// Close cuts clients off, saves the state and releases the data directory. It takes some milliseconds, whatever clients do.
// It may be called several times and while Run runs; every call returns after the broker is closed, with the same result.
func (b *Broker) Close() error {
	b.closing.Do(func() {
		b.closed.Store(true)
		b.cluster.Close()
		// Before the directory is another process's.
		b.result = errors.Join(b.dir.RemoveSettings(), b.lock.release())
	})
	return b.result
}
