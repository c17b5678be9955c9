package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"net/netip"
	"os"
	"strconv"

	"golang.org/x/net/http/httpguts"

	"github.com/anabranch/anabranch/internal/broker"
	"github.com/anabranch/anabranch/internal/broker/datadir"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/internal/workspace/wsseal"
	"github.com/anabranch/anabranch/schemas"
)

// Config is every setting of the process. Each stage owns the settings that
// concern it alone; `anabranch help config` prints them all.
type Config struct {
	Kafka  kafka.Config
	Topics policy.Config

	DataDir        string         `env:"DATA_DIR" envDefault:"./anabranch-data" desc:"directory of the embedded broker's log and password, of files of the stages beside it, and of the settings that its process runs with; only its user can access it"`
	BrokerAddr     string         `env:"BROKER_ADDR" envDefault:"127.0.0.1:9092" desc:"listen address of the embedded broker; any Kafka tool may connect as anabranch, by SCRAM-SHA-256, with the password in DATA_DIR/broker-password"`
	MaxUnrouted    int            `env:"BROKER_MAX_UNROUTED_BYTES" envDefault:"1073741824" desc:"bytes of raw-events that may wait for the router on the embedded broker, which never deletes them; beyond that, calls are answered 503 until it has caught up"`
	InstanceID     string         `env:"INSTANCE_ID" desc:"name of this process, unique among those of its stage and the same after a restart; empty: the host name"`
	Returns        string         `env:"INSTANCE_RETURNS" desc:"true: after an orderly stop, this process's partitions are kept for its return within 8s, so that a restart disturbs no other process; false: the others take them over at once; empty: true where INSTANCE_ID is set"`
	WorkspaceFile  string         `env:"WORKSPACE_FILE" desc:"run: YAML file applied at start and whenever it changes; empty: the example workspace, unless another was applied"`
	AdminAddr      string         `env:"ADMIN_ADDR" envDefault:"127.0.0.1:8081" desc:"listen address of the admin pages, which / lists: /metrics, /healthz, /readyz, /console/, /debug/pprof/ and, with ingest, /regulations"`
	ReceiverAddr   string         `env:"RECEIVER_ADDR" envDefault:"127.0.0.1:8082" desc:"run: listen address of the built-in receiver of the example workspace"`
	ReceiverSecret schemas.Secret `env:"RECEIVER_SECRET" desc:"receive: shared secret that deliveries are signed with, unless --secret says it; empty: they are not signed"`
	SecretsKey     schemas.Secret `env:"SECRETS_KEY" desc:"keys that encrypt the shared secrets and header values of destinations in the topic workspace: 32 bytes each, in base64 or hexadecimal digits, as openssl rand -base64 32 makes them; of a list the first one encrypts and all decrypt; for apply, run, webhook-sink and archive, and for router and replay where they read an archive in a bucket whose keys it encrypts; nobody else; empty: they are in the clear"`
	SuppressionKey schemas.Secret `env:"SUPPRESSION_KEY" desc:"keys of the hashes by which the topic regulations knows suppressed users: 32 bytes each, as for SECRETS_KEY; of a list the first one hashes and all recognise; for ingest, router, personas, run, dead-letters redrive, import and replay, and nobody else; empty: the hashes have no key"`
	LogLevel       string         `env:"LOG_LEVEL" envDefault:"info" desc:"debug, info, warn or error"`
	LogFormat      string         `env:"LOG_FORMAT" desc:"text or json; empty: text on a terminal, JSON otherwise"`

	MetricsDestinations int `env:"METRICS_MAX_DESTINATIONS" envDefault:"500" desc:"destinations that have series of their own in /metrics; the others are added up under destination=\"_other\""`

	AdminToken schemas.Secret `env:"ADMIN_TOKEN" desc:"bearer token for /regulations, and what people log in to the console with; empty: with the embedded broker the one in DATA_DIR/admin-token, else nobody may use it"`
	AdminPprof bool           `env:"ADMIN_PPROF" envDefault:"true" desc:"whether the admin address has /debug/pprof/"`

	Console         bool           `env:"CONSOLE" envDefault:"true" desc:"whether the admin address has the console, pages for people, below /console/. Where ADMIN_ADDR is a loopback address and ADMIN_TOKEN is not set, anybody on this machine may look; else people log in with ADMIN_TOKEN, or are named by a proxy of ADMIN_TRUSTED_PROXIES"`
	ConsoleReadOnly bool           `env:"CONSOLE_READ_ONLY" desc:"true: the console changes nothing, whoever asks"`
	TrustedProxies  []netip.Prefix `env:"ADMIN_TRUSTED_PROXIES" desc:"networks of the reverse proxies that may name the person who looks at the console, in the header ADMIN_PERSON_HEADER; they must remove one that the person sends"`
	PersonHeader    string         `env:"ADMIN_PERSON_HEADER" envDefault:"X-Forwarded-User" desc:"header in which the proxies of ADMIN_TRUSTED_PROXIES name the person"`

	Journal bool `env:"JOURNAL" envDefault:"true" desc:"whether router and webhook-sink write down on the topic journal what became of each event; false: nothing is written, nor asked of the brokers for it"`

	// Stages are all stages, each with its own settings read.
	Stages pipeline.Stages `env:"-"`

	Trace trace.Config
}

// Load reads the settings of the process and of the stages of a list from an
// environment. The error lists every setting that cannot work, each with the
// variable, the value and what was expected.
func Load(environment map[string]string, list pipeline.List) (Config, error) {
	cfg := Config{Stages: list.Make()}
	environment, err := cfg.readSecretFiles(environment)
	if err != nil {
		return cfg, err
	}
	if err = cfg.parse(environment); err != nil {
		return cfg, err
	}
	if !cfg.Journal {
		cfg.Stages.WithoutJournal()
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
	for _, s := range cfg.Stages {
		cfg.Topics.Remembered = max(cfg.Topics.Remembered, s.Known().Remembered)
	}
	return cfg, cfg.validate()
}

// Embedded reports whether the process speaks to the embedded broker: its own,
// or that of a running `anabranch run`.
func (c *Config) Embedded() bool { return len(c.Kafka.Brokers) == 0 }

// Brokers is where to find the broker, embedded or not. The password of the
// embedded one is in a file, which is its user's alone; where there is no file no
// broker was ever started with this DATA_DIR, or not yet.
func (c *Config) Brokers() (kafka.Config, error) {
	if !c.Embedded() {
		return c.Kafka, nil
	}
	password, err := datadir.Read(c.DataDir, datadir.BrokerPassword)
	if errors.Is(err, fs.ErrNotExist) {
		return kafka.Config{Brokers: []string{c.BrokerAddr}}, nil
	}
	if err != nil {
		return kafka.Config{}, fmt.Errorf("%w; expected the DATA_DIR of `anabranch run` and the user that it runs as", err)
	}
	return embedded(c.BrokerAddr, password), nil
}

// EmbeddedBroker is how to reach an embedded broker that is open.
func EmbeddedBroker(b *broker.Broker) kafka.Config { return embedded(b.Addr(), b.Password()) }

func embedded(addr string, password schemas.Secret) kafka.Config {
	return kafka.Config{
		Brokers: []string{addr}, SASLMechanism: broker.Mechanism, Username: broker.User, Password: password,
	}
}

func (c *Config) validate() error {
	stages := make([]error, len(c.Stages))
	for i, s := range c.Stages {
		stages[i] = s.Config.Validate()
	}
	return errors.Join(
		c.Kafka.Validate(),
		c.Topics.Validate(),
		yesOrNo("INSTANCE_RETURNS", c.Returns),
		address("ADMIN_ADDR", c.AdminAddr),
		bearerToken("ADMIN_TOKEN", c.AdminToken),
		headerName("ADMIN_PERSON_HEADER", c.PersonHeader),
		c.checkKeys(),
		address("RECEIVER_ADDR", c.ReceiverAddr),
		address("BROKER_ADDR", c.BrokerAddr),
		within("BROKER_MAX_UNROUTED_BYTES", c.MaxUnrouted, leastUnrouted, math.MaxInt),
		within("METRICS_MAX_DESTINATIONS", c.MetricsDestinations, 1, 100_000),
		errors.Join(stages...),
		c.Trace.Validate(),
	)
}

func (c *Config) checkKeys() error {
	var errs []error
	if _, err := wsseal.Parse(c.SecretsKey); err != nil {
		errs = append(errs, fmt.Errorf("SECRETS_KEY=%s: %w", c.SecretsKey, err))
	}
	if _, err := regulation.ParseKeys(c.SuppressionKey); err != nil {
		errs = append(errs, fmt.Errorf("SUPPRESSION_KEY=%s: %w", c.SuppressionKey, err))
	}
	return errors.Join(errs...)
}

// Keys returns the keys of SECRETS_KEY, nil without any. The settings are valid.
func (c *Config) Keys() *wsseal.Ring {
	keys, _ := wsseal.Parse(c.SecretsKey)
	return keys
}

// SuppressionKeys returns the keys of SUPPRESSION_KEY, nil without any. The settings are
// valid.
func (c *Config) SuppressionKeys() *regulation.Keys {
	keys, _ := regulation.ParseKeys(c.SuppressionKey)
	return keys
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

// headerName refuses what no header is called.
func headerName(variable, value string) error {
	if !httpguts.ValidHeaderFieldName(value) {
		return fmt.Errorf("%s=%q: expected the name of a header, such as X-Forwarded-User", variable, value)
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
