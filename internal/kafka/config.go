package kafka

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// Config says where the brokers are and how to speak to them.
type Config struct {
	Brokers       []string       `env:"KAFKA_BROKERS" desc:"host:port of the Kafka brokers, comma separated; empty: the embedded broker"`
	TLS           bool           `env:"KAFKA_TLS" envDefault:"false" desc:"use TLS with the brokers, verified against the system's roots or KAFKA_TLS_CA_FILE"`
	TLSCAFile     string         `env:"KAFKA_TLS_CA_FILE" desc:"PEM file of the roots that brokers' certificates are verified against, in place of the system's"`
	TLSCertFile   string         `env:"KAFKA_TLS_CERT_FILE" desc:"PEM file of the client certificate, followed by its chain, for brokers that require one; read again for each connection"`
	TLSKeyFile    string         `env:"KAFKA_TLS_KEY_FILE" desc:"PEM file of that certificate's key"`
	TLSServerName string         `env:"KAFKA_TLS_SERVER_NAME" desc:"name that the brokers' certificates must have; empty: the host name that each is reached by"`
	SASLMechanism string         `env:"KAFKA_SASL_MECHANISM" desc:"PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; empty: no authentication"`
	Username      string         `env:"KAFKA_USERNAME" desc:"SASL user name"`
	Password      schemas.Secret `env:"KAFKA_PASSWORD" desc:"SASL password"`
}

// Validate reports every setting that cannot work, each with the variable, the
// value and what was expected. The files of TLS are read for that.
func (c Config) Validate() error {
	var errs []error
	for _, b := range c.Brokers {
		if host, port, err := net.SplitHostPort(b); err != nil || host == "" || port == "" {
			errs = append(errs, fmt.Errorf("KAFKA_BROKERS=%s: %q: expected host:port", strings.Join(c.Brokers, ","), b))
		}
	}
	_, err := c.tlsConfig(slog.New(slog.DiscardHandler))
	errs = append(errs, err)
	_, err = c.sasl()
	return errors.Join(append(errs, err)...)
}

// metadataMinAge is the shortest time between two metadata requests of a client.
const metadataMinAge = 250 * time.Millisecond

// Options are what every client of this process shares: the seeds, transport
// security, authentication, the client id that brokers show in their logs, and
// the log. A consumer never starts by accident in the middle of a topic: start
// and reset are both the first record, because the library's reset otherwise
// goes back one minute only, and what lies before would be lost.
func (c Config) Options(log *slog.Logger) ([]kgo.Opt, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...),
		kgo.ClientID("anabranch"),
		kgo.WithLogger(logger{log}),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		// Nobody reads what brokers ask their clients to measure, and its last push
		// would hold up every stop by up to a second.
		kgo.DisableClientMetrics(),
		// A first produce to a topic, and a partition whose leader moved, wait for
		// the next metadata request: at the library's five seconds a router's
		// transaction stood still that long for each new destination.
		kgo.MetadataMinAge(metadataMinAge),
	}
	secure, err := c.tlsConfig(log)
	if err != nil {
		return nil, err
	}
	if secure != nil {
		opts = append(opts, kgo.DialTLSConfig(secure))
	}
	mechanism, err := c.sasl()
	if err != nil {
		return nil, err
	}
	if mechanism != nil {
		opts = append(opts, kgo.SASL(mechanism))
	}
	return opts, nil
}
