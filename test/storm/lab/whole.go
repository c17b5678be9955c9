package lab

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/anabranch/anabranch/internal/broker/datadir"
	"github.com/anabranch/anabranch/test/storm/child"
)

// Whole makes a process of `anabranch run`, not yet started, with an embedded broker and
// a data directory that survive its kills; api is the address of its collection API. On
// brokers that somebody else started it has none of its own.
func (l *Lab) Whole(n int, env ...string) (p *child.Process, api string, err error) {
	if api, err = child.FreeAddr(); err != nil {
		return nil, "", err
	}
	receiver, err := child.FreeAddr() // of the example workspace, which it begins with
	if err != nil {
		return nil, "", err
	}
	data := filepath.Join(l.Dir, fmt.Sprintf("data-%d", n))
	env = append(env, "INGEST_ADDR="+api, "RECEIVER_ADDR="+receiver, "DATA_DIR="+data)
	if !l.Foreign() {
		if err = l.ownBroker(data); err != nil {
			return nil, "", err
		}
		env = append(env, "BROKER_ADDR="+l.Brokers, "KAFKA_BROKERS=", "KAFKA_SASL_MECHANISM=", "KAFKA_USERNAME=", "KAFKA_PASSWORD=")
	}
	p, err = l.Stage("run", n, env...)
	return p, api, err
}

// ownBroker says where the broker of a whole process will be, and with which password: a
// process leaves the one that it finds.
func (l *Lab) ownBroker(data string) (err error) {
	const password = "storm"
	if err = os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	if err = os.WriteFile(filepath.Join(data, datadir.BrokerPassword), []byte(password), 0o600); err != nil {
		return err
	}
	if l.Brokers, err = child.FreeAddr(); err != nil {
		return err
	}
	l.password = password
	l.Kafka, err = EmbeddedBroker(l.Brokers, password).Options(Silent)
	return err
}

// Foreign reports whether the brokers are somebody else's.
func (l *Lab) Foreign() bool { return l.bench.foreign() }
