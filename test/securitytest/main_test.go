package securitytest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// broker is the one that all tests share; nil where they are to skip.
var broker *node

func TestMain(m *testing.M) {
	if os.Getenv("ANABRANCH_TEST_SECURITY") == "" {
		os.Exit(m.Run())
	}
	code, err := withBroker(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withBroker(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "anabranch-security-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if broker, err = newNode(dir); err != nil {
		return 1, err
	}
	defer func() {
		if stop := broker.script("clean"); err == nil {
			err = stop
		}
	}()
	if err = broker.script("clean"); err == nil {
		err = broker.script("start")
	}
	if err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// node is a secured broker.
type node struct {
	dir  string // of its certificates
	port int
	ca   *authority
}

func newNode(dir string) (*node, error) {
	port := 19192 // beside the broker of "make kafka"
	if set := os.Getenv("KAFKA_PORT"); set != "" {
		var err error
		if port, err = strconv.Atoi(set); err != nil {
			return nil, fmt.Errorf("KAFKA_PORT=%s: expected a port", set)
		}
	}
	ca, err := newAuthority(dir)
	if err != nil {
		return nil, err
	}
	n := &node{dir: dir, port: port, ca: ca}
	pair, err := ca.issue("broker")
	if err != nil {
		return nil, err
	}
	both := slices.Concat(pair.keyPEM, pair.certPEM)
	return n, os.WriteFile(filepath.Join(dir, "broker.pem"), both, 0o600)
}

// script runs kafka.sh.
func (n *node) script(do string) error {
	cmd := exec.Command("../../scripts/kafka/kafka.sh", do)
	cmd.Env = append(os.Environ(), "KAFKA_SECURITY="+n.dir, "KAFKA_PORT="+strconv.Itoa(n.port))
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kafka.sh %s: %w", do, err)
	}
	return nil
}

// logFile is where the broker writes, what the authorizer decided too.
func (n *node) logFile() string {
	return filepath.Join("..", "..", ".kafka", strconv.Itoa(n.port)+"-secured", "log")
}

// The listeners.
func (n *node) mtls() string { return "127.0.0.1:" + strconv.Itoa(n.port) }
func (n *node) tls() string  { return "127.0.0.1:" + strconv.Itoa(n.port+2) }
func (n *node) sasl() string { return "127.0.0.1:" + strconv.Itoa(n.port+3) }

// secured returns the broker, and skips the test where there is none.
func secured(t *testing.T) *node {
	t.Helper()
	if broker == nil {
		t.Skip("`make test-security` runs this")
	}
	return broker
}
