package kafka

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/anabranch/anabranch/schemas"
)

// Config says where the brokers are and how to speak to them.
type Config struct {
	Brokers       []string       `env:"KAFKA_BROKERS" desc:"host:port of the Kafka brokers, comma separated; empty: the embedded broker"`
	TLS           bool           `env:"KAFKA_TLS" envDefault:"false" desc:"speak TLS to the brokers, verified against the system's roots"`
	SASLMechanism string         `env:"KAFKA_SASL_MECHANISM" desc:"PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; empty: no authentication"`
	Username      string         `env:"KAFKA_USERNAME" desc:"SASL user name"`
	Password      schemas.Secret `env:"KAFKA_PASSWORD" desc:"SASL password"`
}

// Validate reports every setting that cannot work, each with the variable, the
// value and what was expected.
func (c Config) Validate() error {
	var errs []error
	for _, b := range c.Brokers {
		if host, port, err := net.SplitHostPort(b); err != nil || host == "" || port == "" {
			errs = append(errs, fmt.Errorf("KAFKA_BROKERS=%s: %q: expected host:port", strings.Join(c.Brokers, ","), b))
		}
	}
	if _, err := c.sasl(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
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
	if c.TLS {
		opts = append(opts, kgo.DialTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12}))
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

func (c Config) sasl() (sasl.Mechanism, error) {
	mechanisms := []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}
	switch {
	case c.SASLMechanism == "" && c.Username != "":
		return nil, errors.New("KAFKA_SASL_MECHANISM is empty but KAFKA_USERNAME is set: expected one of " + strings.Join(mechanisms, ", "))
	case c.SASLMechanism == "":
		return nil, nil
	case !slices.Contains(mechanisms, c.SASLMechanism):
		return nil, fmt.Errorf("KAFKA_SASL_MECHANISM=%s: expected one of %s", c.SASLMechanism, strings.Join(mechanisms, ", "))
	case c.Username == "":
		return nil, errors.New("KAFKA_USERNAME is empty: expected a user name for KAFKA_SASL_MECHANISM=" + c.SASLMechanism)
	}
	switch c.SASLMechanism {
	case "PLAIN":
		return plain.Auth{User: c.Username, Pass: c.Password.Reveal()}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: c.Username, Pass: c.Password.Reveal()}.AsSha256Mechanism(), nil
	default:
		return scram.Auth{User: c.Username, Pass: c.Password.Reveal()}.AsSha512Mechanism(), nil
	}
}
