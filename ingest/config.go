package ingest

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Config is what an operator may set.
type Config struct {
	Addr               string        `env:"INGEST_ADDR" envDefault:"127.0.0.1:8080" desc:"listen address of the collection API"`
	ProduceTimeout     time.Duration `env:"INGEST_PRODUCE_TIMEOUT" envDefault:"10s" desc:"how long a request waits for the brokers' acknowledgement before it is answered 503"`
	Linger             time.Duration `env:"INGEST_LINGER" envDefault:"1ms" desc:"how long a record waits for others to travel with it"`
	MaxBufferedRecords int           `env:"INGEST_MAX_BUFFERED_RECORDS" envDefault:"20000" desc:"events that may wait for the brokers; more are answered 503"`
	MaxBufferedBytes   int           `env:"INGEST_MAX_BUFFERED_BYTES" envDefault:"33554432" desc:"bytes of events that may wait for the brokers; more are answered 503"`
}

// minBuffered is the least room that any batch fits into: what its calls may
// grow to, and their headers.
const minBuffered = 2 * decode.MaxRequestBytes

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	var errs []error
	expect := func(ok bool, variable string, value any, expected string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s=%v: expected %s", variable, value, expected))
		}
	}
	_, _, err := net.SplitHostPort(c.Addr)
	expect(err == nil, "INGEST_ADDR", c.Addr, "host:port, such as 127.0.0.1:8080")
	expect(c.ProduceTimeout >= 100*time.Millisecond && c.ProduceTimeout <= time.Minute,
		"INGEST_PRODUCE_TIMEOUT", c.ProduceTimeout, "100ms to 1m")
	expect(c.Linger >= 0 && c.Linger <= 100*time.Millisecond, "INGEST_LINGER", c.Linger, "0s to 100ms")
	expect(c.MaxBufferedRecords >= schemas.MaxBatchEvents,
		"INGEST_MAX_BUFFERED_RECORDS", c.MaxBufferedRecords, fmt.Sprintf("at least %d, one batch", schemas.MaxBatchEvents))
	expect(c.MaxBufferedBytes >= minBuffered,
		"INGEST_MAX_BUFFERED_BYTES", c.MaxBufferedBytes, fmt.Sprintf("at least %d, one batch", minBuffered))
	return errors.Join(errs...)
}

// Settings are what the process gives the stage.
type Settings struct {
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// Workspace has the sources and their write keys.
	Workspace *workspace.Live
	// Kafka are the options that every client of the process shares.
	Kafka []kgo.Opt
	// Topics creates raw-events should it be missing.
	Topics *kafka.Topics
}
