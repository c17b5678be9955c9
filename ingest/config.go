package ingest

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Config is what an operator may set.
type Config struct {
	Addr               string         `env:"INGEST_ADDR" envDefault:"127.0.0.1:8080" desc:"listen address of the collection API"`
	PublicHost         string         `env:"INGEST_PUBLIC_HOST" desc:"host, and port if need be, under which SDKs reach the collection API, for the settings that they fetch; empty: the one that they ask"`
	ProduceTimeout     time.Duration  `env:"INGEST_PRODUCE_TIMEOUT" envDefault:"10s" desc:"how long a request waits for the brokers' acknowledgement before it is answered 503"`
	Linger             time.Duration  `env:"INGEST_LINGER" envDefault:"1ms" desc:"how long a record waits for others to be sent with it"`
	MaxBufferedRecords int            `env:"INGEST_MAX_BUFFERED_RECORDS" envDefault:"20000" desc:"events that may wait for the brokers; more are answered 503"`
	MaxBufferedBytes   int            `env:"INGEST_MAX_BUFFERED_BYTES" envDefault:"33554432" desc:"bytes of events that may wait for the brokers; more are answered 503"`
	MaxBatchBytes      int            `env:"INGEST_MAX_BATCH_BYTES" envDefault:"512000" desc:"bytes of a batch, decompressed, 512000 to 4194304; longer ones are answered 413"`
	TLSCertFile        string         `env:"INGEST_TLS_CERT_FILE" desc:"PEM file of the collection API's certificate, followed by its chain; read again when it changes; empty: plain HTTP"`
	TLSKeyFile         string         `env:"INGEST_TLS_KEY_FILE" desc:"PEM file of the certificate's key"`
	MaxConnections     int            `env:"INGEST_MAX_CONNECTIONS" envDefault:"5000" desc:"connections open at a time; for each one beyond, one that is slow or idle is closed; 0: no limit"`
	TrustedProxies     []netip.Prefix `env:"INGEST_TRUSTED_PROXIES" desc:"CIDR list of proxies whose Forwarded, X-Forwarded-For and traceparent headers are trusted; empty: none"`
	RatePerSource      int            `env:"INGEST_RATE_PER_SOURCE" envDefault:"0" desc:"events per second that each source may send to this process, and 2500 at once in any case; more are answered 429; 0: no limit"`
	BadKeysPerMinute   int            `env:"INGEST_BAD_KEYS_PER_MINUTE" envDefault:"600" desc:"requests per minute with a wrong write key that an address may send; more are answered 429 instead of 401; 0: no limit"`
}

// minBuffered is the least room that any batch fits into: what its calls may
// grow to, and their headers.
const minBuffered = 2 * decode.MaxRequestBytes

// mostBatchBytes leaves room for a batch to grow to twice its length when it is
// decoded, and is what other collectors of this protocol take.
const mostBatchBytes = decode.MaxRequestBytes / 2

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
	expect(validHost(c.PublicHost), "INGEST_PUBLIC_HOST", c.PublicHost, "a host such as collect.example.com, with a port if need be, without scheme and path")
	expect(c.ProduceTimeout >= 100*time.Millisecond && c.ProduceTimeout <= time.Minute,
		"INGEST_PRODUCE_TIMEOUT", c.ProduceTimeout, "100ms to 1m")
	expect(c.Linger >= 0 && c.Linger <= 100*time.Millisecond, "INGEST_LINGER", c.Linger, "0s to 100ms")
	expect(c.MaxBufferedRecords >= schemas.MaxBatchEvents,
		"INGEST_MAX_BUFFERED_RECORDS", c.MaxBufferedRecords, fmt.Sprintf("at least %d, one batch", schemas.MaxBatchEvents))
	expect(c.MaxBufferedBytes >= minBuffered,
		"INGEST_MAX_BUFFERED_BYTES", c.MaxBufferedBytes, fmt.Sprintf("at least %d, one batch", minBuffered))
	expect(c.MaxBatchBytes >= schemas.MaxBatchBytes && c.MaxBatchBytes <= mostBatchBytes,
		"INGEST_MAX_BATCH_BYTES", c.MaxBatchBytes, fmt.Sprintf("%d, the limit of the protocol, to %d", schemas.MaxBatchBytes, mostBatchBytes))
	expect(c.MaxConnections >= 0, "INGEST_MAX_CONNECTIONS", c.MaxConnections, "a number of connections, or 0 for no limit")
	expect(c.RatePerSource >= 0, "INGEST_RATE_PER_SOURCE", c.RatePerSource, "a number of events, or 0 for no limit")
	expect(c.BadKeysPerMinute >= 0, "INGEST_BAD_KEYS_PER_MINUTE", c.BadKeysPerMinute, "a number of requests, or 0 for no limit")
	return errors.Join(errs...)
}

// validHost reports whether host may stand before the path of a URL. Empty may.
func validHost(host string) bool {
	u, err := url.Parse("//" + host)
	return err == nil && u.Host == host
}

// Settings are what the process gives the stage.
type Settings struct {
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// Workspace has the sources and their write keys.
	Workspace *workspace.Live
	// Trace follows events that are sampled. Nil: tracing is off.
	Trace *trace.Tracer
	// Kafka are the options that every client of the process shares.
	Kafka []kgo.Opt
	// Topics creates raw-events should it be missing.
	Topics *topics.Admin
	// Full returns why nothing more may be put on raw-events for now, nil while it
	// may: calls are answered 503 meanwhile. Nil: there is always room.
	Full func() error
	// Suppressed tells the users whose calls are dropped; it must not hold on to
	// the id. Nil: nobody is suppressed.
	Suppressed func(userID []byte) bool
}
