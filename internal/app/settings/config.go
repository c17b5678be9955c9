package settings

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"

	"github.com/anabranch/anabranch/ingest"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/router"
	"github.com/anabranch/anabranch/schemas"
	webhooksink "github.com/anabranch/anabranch/webhook-sink"
)

// Config is every setting of the process. Each stage owns the settings that
// concern it alone; `anabranch help config` prints them all.
type Config struct {
	Kafka  kafka.Config
	Topics kafka.TopicConfig

	DataDir       string `env:"DATA_DIR" envDefault:"./anabranch-data" desc:"directory of the embedded broker's log"`
	BrokerAddr    string `env:"BROKER_ADDR" envDefault:"127.0.0.1:9092" desc:"listen address of the embedded broker; any Kafka tool may connect"`
	MaxUnrouted   int    `env:"BROKER_MAX_UNROUTED_BYTES" envDefault:"1073741824" desc:"bytes of raw-events on the embedded broker that may wait for the router, which are never deleted; at more, calls are answered 503 until it has caught up"`
	InstanceID    string `env:"INSTANCE_ID" desc:"name of this process among those that run the same stage, the same after a restart; empty: the host name"`
	Returns       string `env:"INSTANCE_RETURNS" desc:"true: an orderly stop keeps this process's partitions for its return within 8s, so that a restart disturbs nobody; false: the others take them over at once; empty: true where INSTANCE_ID is set"`
	WorkspaceFile string `env:"WORKSPACE_FILE" desc:"run: YAML file applied at start and whenever it changes; empty: the example workspace, unless another was applied"`
	AdminAddr     string `env:"ADMIN_ADDR" envDefault:"127.0.0.1:8081" desc:"listen address of /metrics, /healthz, /readyz, /debug/pprof/ and, with ingest, /regulations"`
	ReceiverAddr  string `env:"RECEIVER_ADDR" envDefault:"127.0.0.1:8082" desc:"run: listen address of the built-in receiver of the example workspace"`
	LogLevel      string `env:"LOG_LEVEL" envDefault:"info" desc:"debug, info, warn or error"`
	LogFormat     string `env:"LOG_FORMAT" desc:"text or json; empty: text on a terminal, JSON otherwise"`

	MetricsDestinations int `env:"METRICS_MAX_DESTINATIONS" envDefault:"500" desc:"destinations that have series of their own in /metrics; the others are summed up under destination=\"_other\""`

	AdminToken schemas.Secret `env:"ADMIN_TOKEN" desc:"bearer token for /regulations; empty: only a program on the same machine may use it"`

	Ingest ingest.Config
	Router router.Config
	Sink   webhooksink.Config
	Trace  trace.Config
}

// Load reads the settings from an environment. The error lists every
// setting that cannot work, each with the variable, the value and what was
// expected.
func Load(environment map[string]string) (Config, error) {
	cfg, err := parse(environment)
	if err != nil {
		return cfg, err
	}
	named := cfg.InstanceID != ""
	if !named {
		// Containers have host names of their own, and keep them over a crash. One
		// that is stopped is often replaced by another, under another name.
		cfg.InstanceID, _ = os.Hostname()
	}
	if cfg.Returns == "" {
		cfg.Returns = strconv.FormatBool(named)
	}
	cfg.Topics.Embedded = cfg.Embedded()
	return cfg, cfg.validate()
}

// Embedded reports whether the process speaks to the embedded broker: its own,
// or that of a running `anabranch run`.
func (c *Config) Embedded() bool { return len(c.Kafka.Brokers) == 0 }

// Brokers is where to find the broker, embedded or not.
func (c *Config) Brokers() kafka.Config {
	k := c.Kafka
	if c.Embedded() {
		k = kafka.Config{Brokers: []string{c.BrokerAddr}}
	}
	return k
}

func (c *Config) validate() error {
	return errors.Join(
		c.Kafka.Validate(),
		c.Topics.Validate(),
		yesOrNo("INSTANCE_RETURNS", c.Returns),
		address("ADMIN_ADDR", c.AdminAddr),
		bearerToken("ADMIN_TOKEN", c.AdminToken),
		address("RECEIVER_ADDR", c.ReceiverAddr),
		address("BROKER_ADDR", c.BrokerAddr),
		within("BROKER_MAX_UNROUTED_BYTES", c.MaxUnrouted, leastUnrouted, math.MaxInt),
		within("METRICS_MAX_DESTINATIONS", c.MetricsDestinations, 1, 100_000),
		c.Ingest.Validate(),
		c.Router.Validate(),
		c.Sink.Validate(),
		c.Trace.Validate(),
	)
}

// leastUnrouted is more than one request: with less there would be no way in.
const leastUnrouted = 16 << 20

func yesOrNo(variable, value string) error {
	if value != "true" && value != "false" {
		return fmt.Errorf("%s=%s: expected true or false", variable, value)
	}
	return nil
}

func within(variable string, value, least, most int) error {
	if value < least || value > most {
		return fmt.Errorf("%s=%d: expected %d to %d", variable, value, least, most)
	}
	return nil
}

func address(variable, value string) error {
	_, port, err := net.SplitHostPort(value)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%s=%s: expected host:port", variable, value)
	}
	return nil
}

// bearerToken refuses a token that no header can carry as it is. The error does
// not show it.
func bearerToken(variable string, value schemas.Secret) error {
	for _, c := range []byte(value.Reveal()) {
		if c <= ' ' || c > '~' {
			return fmt.Errorf("%s=%s: expected printable ASCII characters without spaces", variable, value)
		}
	}
	return nil
}
