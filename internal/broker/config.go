package broker

import (
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// defaultRetentionEvery is how often the log is trimmed by default. A pass over 1,000 partitions takes some
// milliseconds, and a log may exceed its limits by what arrives in between.
const defaultRetentionEvery = time.Minute

// Config says where the broker keeps its log and where it listens.
type Config struct {
	DataDir string `env:"DATA_DIR" envDefault:"./anabranch-data" desc:"directory of the embedded broker's log and of local stores"`
	Addr    string `env:"BROKER_ADDR" envDefault:"127.0.0.1:9092" desc:"loopback address of the embedded broker; any Kafka tool may connect with the password in DATA_DIR/broker-password"`

	// RetentionEvery is how often the log is trimmed; zero is once a minute.
	RetentionEvery time.Duration
	// Readers returns the consumer groups that have to read a topic. Retention deletes nothing of it that one of them
	// has not committed, nor anything while one has committed nothing. Without any, or nil, it deletes what is too old
	// or too much.
	Readers func(topic string) []string
	// Intake is a topic with readers through which everything comes in, and MaxUnread how many bytes of it may be unread
	// before [Broker.Full] says so. Zero: any number.
	Intake    string
	MaxUnread int64
	// Registerer takes the metrics; nil: there are none.
	Registerer prometheus.Registerer
}

// Validate returns an error that names the first variable with a bad value, the value, and what was expected.
func (c Config) Validate() error {
	if c.DataDir == "" {
		return fmt.Errorf("DATA_DIR=%s: expected the path of a directory", c.DataDir)
	}
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return fmt.Errorf("BROKER_ADDR=%s: expected host:port, such as 127.0.0.1:9092", c.Addr)
	}
	if !isLoopback(host) {
		return fmt.Errorf("BROKER_ADDR=%s: expected a loopback address, such as 127.0.0.1:9092: the embedded broker does not encrypt; "+
			"set KAFKA_BROKERS to use a broker that other machines may reach", c.Addr)
	}
	return nil
}

// isLoopback judges the text, not what a resolver makes of it: "localhost" is what people type, and any other name
// may resolve to something else tomorrow.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
