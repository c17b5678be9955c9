package personas

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/store"
	"github.com/anabranch/anabranch/schemas"
)

// Config is what an operator may set.
type Config struct {
	Store              string        `env:"PERSONAS_STORE" envDefault:"pebble" desc:"where the state of users is at hand: pebble (files in PERSONAS_DATA_DIR) or memory; it is restored from the topic personas-changelog either way"`
	DataDir            string        `env:"PERSONAS_DATA_DIR" desc:"directory of the state of users; each process of the stage needs its own. Empty: personas in DATA_DIR"`
	StoreMemory        int           `env:"PERSONAS_STORE_MEMORY_BYTES" envDefault:"268435456" desc:"bytes of memory for the buffers and the cache of pebble"`
	ProfileMemory      int           `env:"PERSONAS_PROFILE_MEMORY_BYTES" envDefault:"67108864" desc:"bytes of memory, about, for the state of users that is kept ready between transactions, of all partitions together"`
	Dedup              time.Duration `env:"PERSONAS_DEDUP_WINDOW" envDefault:"24h" desc:"how long a call is remembered: the same messageId of the same source and user within that time is a copy, which is not counted again; 0s: every call counts. With the value of ROUTER_DEDUP_WINDOW a process without files reads the router's digests instead of raw-events"`
	MaxRecords         int           `env:"PERSONAS_MAX_RECORDS" envDefault:"5000" desc:"maximum number of calls in one transaction"`
	TransactionTimeout time.Duration `env:"PERSONAS_TRANSACTION_TIMEOUT" envDefault:"10s" desc:"time after which the broker aborts the transaction of a process that went silent"`
}

// The values of PERSONAS_STORE.
const (
	storePebble = "pebble"
	storeMemory = "memory"
)

// Validate reports every setting that cannot work.
func (c *Config) Validate() error {
	var errs []error
	if c.Store != storePebble && c.Store != storeMemory {
		errs = append(errs, fmt.Errorf("PERSONAS_STORE=%s: expected pebble or memory", c.Store))
	}
	if c.StoreMemory < store.MinMemory {
		errs = append(errs, fmt.Errorf("PERSONAS_STORE_MEMORY_BYTES=%d: expected at least %d", c.StoreMemory, store.MinMemory))
	}
	if c.ProfileMemory < 0 {
		errs = append(errs, fmt.Errorf("PERSONAS_PROFILE_MEMORY_BYTES=%d: expected at least 0", c.ProfileMemory))
	}
	if c.Dedup != 0 && (c.Dedup < time.Minute || c.Dedup > 30*24*time.Hour) {
		errs = append(errs, fmt.Errorf("PERSONAS_DEDUP_WINDOW=%s: expected 1m to 720h, or 0s for none", c.Dedup))
	}
	if c.MaxRecords < 1 || c.MaxRecords > 100_000 {
		errs = append(errs, fmt.Errorf("PERSONAS_MAX_RECORDS=%d: expected 1 to 100000", c.MaxRecords))
	}
	if c.TransactionTimeout < time.Second || c.TransactionTimeout > 15*time.Minute {
		errs = append(errs, fmt.Errorf("PERSONAS_TRANSACTION_TIMEOUT=%s: expected 1s to 15m", c.TransactionTimeout))
	}
	return errors.Join(errs...)
}

func (c *Config) open(log *slog.Logger) (store.Store, error) {
	if c.Store == storeMemory {
		return store.NewMemory(), nil
	}
	return store.Open(store.Options{Dir: filepath.Clean(c.DataDir), Memory: int64(c.StoreMemory), Log: log})
}

// seenDir is where the calls that were seen are kept; empty: in files without names.
func (c *Config) seenDir() string {
	if c.Store == storeMemory {
		return ""
	}
	return filepath.Join(c.DataDir, "seen")
}

// Settings are what the process gives the stage.
type Settings struct {
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// Definitions returns those in force. As long as it returns the same pointer, nothing
	// has changed.
	Definitions func() *engine.Definitions
	// Listened says whether an enabled destination gets what comes from a source. Nil: of
	// each source one does.
	Listened func(source string) bool
	// Suppressed says of whom nothing may be told. Nil: of everybody something may.
	Suppressed func(userID string) bool
	// AnonymousIDs returns how many anonymous ids a user may claim in a time. Nil: 100 in a
	// week.
	AnonymousIDs func() (most int, per time.Duration)
	// Uncompacted says that the brokers never compact the changelog.
	Uncompacted bool
	// Kafka are the options that every client of the process shares.
	Kafka []kgo.Opt
	// Topics looks at the topics.
	Topics *topics.Admin
	// The stage's place in its group and among writers, as [runner.Session] has it.
	TransactionalID, InstanceID string
	Returns                     bool
}

// Group is the stage's consumer group, and Bookmark the one that holds a copy of its
// offsets. It has no members, and brokers are asked never to forget it.
const (
	Group    = schemas.OwnPrefix + "personas"
	Bookmark = Group + "-bookmark"
)
