package securitytest

import (
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
)

// identity is how somebody speaks to the broker, and who that makes them there.
type identity struct {
	principal string
	config    kafka.Config
}

// environment is the identity as settings.
func (i identity) environment(more map[string]string) map[string]string {
	c := i.config
	env := map[string]string{
		"KAFKA_BROKERS": c.Brokers[0], "KAFKA_TLS": "true", "KAFKA_TLS_CA_FILE": c.TLSCAFile,
		"KAFKA_TLS_CERT_FILE": c.TLSCertFile, "KAFKA_TLS_KEY_FILE": c.TLSKeyFile,
		"KAFKA_SASL_MECHANISM": c.SASLMechanism, "KAFKA_USERNAME": c.Username, "KAFKA_PASSWORD": c.Password.Reveal(),
	}
	maps.Copy(env, more)
	return env
}

// certified is known by a certificate of its own.
func (n *node) certified(t *testing.T, name string) identity {
	t.Helper()
	own, err := n.ca.issue(name)
	if err != nil {
		t.Fatal(err)
	}
	return identity{"User:CN=" + name, kafka.Config{
		Brokers: []string{n.mtls()}, TLS: true, TLSCAFile: n.ca.file, TLSCertFile: own.certFile, TLSKeyFile: own.keyFile,
	}}
}

// plain is the only user of SASL PLAIN; kafka.sh knows it.
func (n *node) plain() identity { return n.named("PLAIN", "plain", "plain-secret") }

func (n *node) named(mechanism, user, password string) identity {
	return identity{"User:" + user, kafka.Config{
		Brokers: []string{n.sasl()}, TLS: true, TLSCAFile: n.ca.file,
		SASLMechanism: mechanism, Username: user, Password: schemas.Secret(password),
	}}
}

// scram creates a user of SCRAM.
func (n *node) scram(t *testing.T, mechanism kadm.ScramMechanism, user string) identity {
	t.Helper()
	password := user + "-secret"
	set := kadm.UpsertSCRAM{User: user, Mechanism: mechanism, Iterations: 4096, Password: password}
	altered, err := n.admin(t).AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{set})
	if err == nil {
		err = altered.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
	return n.named(mechanism.String(), user, password)
}

// admin is the super user.
func (n *node) admin(t *testing.T) *kadm.Client {
	t.Helper()
	return kadm.NewClient(n.super(t))
}

func (n *node) super(t *testing.T) *kgo.Client {
	t.Helper()
	return client(t, n.certified(t, "admin").config)
}

// client returns a client that ends with the test.
func client(t *testing.T, config kafka.Config, more ...kgo.Opt) *kgo.Client {
	t.Helper()
	opts, err := config.Options(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	opts = append(opts, kgo.MetadataMinAge(10*time.Millisecond)) // topics come and go
	cl, err := kgo.NewClient(append(opts, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// allow puts rules in force for a principal, forbid takes them back: in one request,
// since each takes the controller some time.
func (n *node) allow(t *testing.T, principal string, rules ...acl.Rule) {
	t.Helper()
	req := kmsg.NewPtrCreateACLsRequest()
	for _, r := range rules {
		c := kmsg.NewCreateACLsRequestCreation()
		c.Principal, c.Host, c.PermissionType = principal, "*", kmsg.ACLPermissionTypeAllow
		c.ResourceType, c.ResourceName, c.ResourcePatternType, c.Operation = r.Resource, r.Name, pattern(r), r.Operation
		req.Creations = append(req.Creations, c)
	}
	resp, err := req.RequestWith(t.Context(), n.super(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, result := range resp.Results {
		if err := kerr.ErrorForCode(result.ErrorCode); err != nil {
			t.Fatalf("allow %s %s: %v", principal, rules[i], err)
		}
	}
}

func (n *node) forbid(t *testing.T, principal string, rules ...acl.Rule) {
	t.Helper()
	req := kmsg.NewPtrDeleteACLsRequest()
	for _, r := range rules {
		f := kmsg.NewDeleteACLsRequestFilter()
		f.Principal, f.PermissionType = &principal, kmsg.ACLPermissionTypeAllow
		f.ResourceType, f.ResourceName, f.ResourcePatternType, f.Operation = r.Resource, &r.Name, pattern(r), r.Operation
		req.Filters = append(req.Filters, f)
	}
	resp, err := req.RequestWith(t.Context(), n.super(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, result := range resp.Results {
		if err := kerr.ErrorForCode(result.ErrorCode); err != nil || len(result.MatchingACLs) != 1 {
			t.Fatalf("forbid %s %s: %v, %d rules found", principal, rules[i], err, len(result.MatchingACLs))
		}
	}
}

func pattern(r acl.Rule) kmsg.ACLResourcePatternType {
	if r.Prefixed {
		return kmsg.ACLResourcePatternTypePrefixed
	}
	return kmsg.ACLResourcePatternTypeLiteral
}
