package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

func TestAdvice(t *testing.T) {
	t.Parallel()
	for want, errs := range map[string][]error{
		"KAFKA_USERNAME":       {kerr.SaslAuthenticationFailed},
		"KAFKA_SASL_MECHANISM": {kerr.UnsupportedSaslMechanism, kerr.IllegalSaslState, new(kgo.ErrFirstReadEOF)},
		"ACL on the topic":     {kerr.TopicAuthorizationFailed},
		"consumer group":       {kerr.GroupAuthorizationFailed},
		"transactional id":     {kerr.TransactionalIDAuthorizationFailed},
		"cluster":              {kerr.ClusterAuthorizationFailed},
		"synchronise it":       {kerr.InvalidTimestamp},
		"check KAFKA_TLS and":  {tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}},
		"KAFKA_TLS_CA_FILE":    {x509.UnknownAuthorityError{}, &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}},
		"KAFKA_TLS_SERVER_NAME": {
			&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: new(x509.Certificate), Host: "kafka"}},
		},
		"KAFKA_TLS_CERT_FILE": {&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}},
		"KAFKA_TLS,": {
			errors.New("invalid large response size 352518912 > limit 104857600; the first three bytes received appear to be a tls alert record for TLS v1.2"),
		},
		"": {
			nil, io.EOF, context.DeadlineExceeded, kerr.NotLeaderForPartition, kerr.UnknownTopicOrPartition,
			&net.OpError{Op: "dial", Err: errors.New("connection refused")},
		},
	} {
		for _, err := range errs {
			wrapped := err
			if err != nil {
				wrapped = fmt.Errorf("dial: %w", err)
			}
			if got := Advice(wrapped); !strings.Contains(got, want) || (got == "") != (want == "") {
				t.Errorf("Advice(%v) = %q, want %q in it", err, got, want)
			}
		}
	}
}

// TestAResetAtFirstIsAnAnswer: later it is what a broker that stops leaves behind.
func TestAResetAtFirstIsAnAnswer(t *testing.T) {
	t.Parallel()
	reset := &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	if got := FirstAdvice(reset); !strings.Contains(got, "DATA_DIR/broker-password") {
		t.Errorf("at first: %q", got)
	}
	if got := Advice(reset); got != "" {
		t.Errorf("later: %q", got)
	}
	if got := FirstAdvice(kerr.SaslAuthenticationFailed); !strings.Contains(got, "KAFKA_USERNAME") {
		t.Errorf("what has an advice at any time: %q", got)
	}
}

// TestAdvisedSaysItOnce: an error goes through several hands on its way to a person.
func TestAdvisedSaysItOnce(t *testing.T) {
	t.Parallel()
	if err := Advised(nil); err != nil {
		t.Errorf("Advised(nil) = %v", err)
	}
	if err := Advised(io.EOF); !errors.Is(err, io.EOF) || err.Error() != "EOF" {
		t.Errorf("Advised(EOF) = %v", err)
	}
	err := Advised(Advised(kerr.SaslAuthenticationFailed))
	if n := strings.Count(err.Error(), "KAFKA_PASSWORD"); n != 1 || !errors.Is(err, kerr.SaslAuthenticationFailed) {
		t.Errorf("the advice is in %q %d times", err, n)
	}
	if err := Advised(fmt.Errorf("see topic x: %w (%s)", kerr.TopicAuthorizationFailed, acl.See)); strings.Count(err.Error(), acl.See) != 1 {
		t.Errorf("two advices in %q", err)
	}
}

// TestAwaitSaysWhatToDoAboutCredentials names the variables, and no secret. (The
// in-process broker hangs up on a wrong password; real ones answer as this does.)
func TestAwaitSaysWhatToDoAboutCredentials(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t, kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "right"))
	cluster.Fake.ControlKey(kmsg.SASLAuthenticate.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.Fake.KeepControl()
		resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		resp.ErrorCode = kerr.SaslAuthenticationFailed.Code
		return resp, nil, true
	})
	text, err := awaitIn(t, Config{Brokers: cluster.Addrs, SASLMechanism: "PLAIN", Username: "u", Password: "wr0ng"}, "KAFKA_USERNAME")
	if err == nil || !strings.Contains(err.Error(), "KAFKA_PASSWORD") || !strings.Contains(text, "level=ERROR") {
		t.Errorf("Await = %v, and the log says\n%s", err, text)
	}
	if strings.Contains(text+fmt.Sprint(err), "wr0ng") {
		t.Errorf("the password is in the log:\n%s", text)
	}
}

// TestEachMechanismAuthenticates, and none does with another one's password.
func TestEachMechanismAuthenticates(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t, kfake.NumBrokers(1), kfake.EnableSASL(),
		kfake.Superuser("PLAIN", "u", "p"), kfake.Superuser("SCRAM-SHA-256", "u", "s256"), kfake.Superuser("SCRAM-SHA-512", "u", "s512"))
	for mechanism, password := range map[string]schemas.Secret{"PLAIN": "p", "SCRAM-SHA-256": "s256", "SCRAM-SHA-512": "s512"} {
		for _, tried := range []schemas.Secret{"p", "s256", "s512"} {
			config := Config{Brokers: cluster.Addrs, SASLMechanism: mechanism, Username: "u", Password: tried}
			opts, err := config.Options(new(testkit.Logs).Logger())
			if err != nil {
				t.Fatal(err)
			}
			cl, err := kgo.NewClient(append(opts, kgo.RequestRetries(0))...)
			if err != nil {
				t.Fatal(err)
			}
			if err := cl.Ping(t.Context()); (err == nil) != (tried == password) {
				t.Errorf("%s with the password of %s: %v", mechanism, tried.Reveal(), err)
			}
			cl.Close()
		}
	}
}
