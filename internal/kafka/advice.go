package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/acl"
)

// Advice says what an operator has to do about an error: one by which brokers
// refuse us, or by which we refuse them. It names the variable, or the kind of ACL,
// and is empty for errors that time may mend.
func Advice(err error) string {
	for _, r := range []struct {
		cause  error
		advice string
	}{
		{kerr.SaslAuthenticationFailed, "the brokers refuse our credentials: check KAFKA_USERNAME, KAFKA_PASSWORD and KAFKA_SASL_MECHANISM"},
		{kerr.UnsupportedSaslMechanism, "the brokers do not offer this way to authenticate: check KAFKA_SASL_MECHANISM"},
		{kerr.IllegalSaslState, "this port of the brokers does not authenticate: check KAFKA_SASL_MECHANISM and the port in KAFKA_BROKERS"},
		{kerr.TopicAuthorizationFailed, "our principal lacks an ACL on the topic: " + acl.See},
		{kerr.GroupAuthorizationFailed, "our principal lacks the ACL Read on the consumer group: " + acl.See},
		{kerr.TransactionalIDAuthorizationFailed, "our principal lacks the ACL Write on the transactional id: " + acl.See},
		{kerr.ClusterAuthorizationFailed, "our principal lacks an ACL on the cluster: " + acl.See},
		{kerr.InvalidTimestamp, "the clock of this machine is ahead of the brokers' by more than the topic allows (message.timestamp.after.max.ms): synchronise it; on a topic with message.timestamp.type=LogAppendTime it does not matter"},
	} {
		if errors.Is(err, r.cause) {
			return r.advice
		}
	}
	return adviceOnTLS(err)
}

func adviceOnTLS(err error) string {
	_, plaintext := errors.AsType[tls.RecordHeaderError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, misnamed := errors.AsType[x509.HostnameError](err)
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	_, hungUp := errors.AsType[*kgo.ErrFirstReadEOF](err)
	switch {
	case plaintext:
		return "this port of the brokers does not speak TLS: check KAFKA_TLS and the port in KAFKA_BROKERS"
	case unknown:
		return "we do not know who signed the brokers' certificate: name that CA in KAFKA_TLS_CA_FILE"
	case misnamed:
		return "the brokers' certificate is for another name: connect by a name that it contains (KAFKA_BROKERS and the brokers' advertised.listeners), or set KAFKA_TLS_SERVER_NAME"
	case unverified:
		return "we can't verify the brokers' certificate: fix it, or check KAFKA_TLS_CA_FILE"
	case refusedByTLS(err):
		return "the brokers refuse our certificate, or require one: check KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE"
	case hungUp, alertInPlaintext(err):
		return requiresMore
	}
	return ""
}

const requiresMore = "this port of the brokers seems to require TLS or authentication: check KAFKA_TLS, KAFKA_SASL_MECHANISM and the port in KAFKA_BROKERS; " +
	"of the embedded broker of `anabranch run`, the user is anabranch, the mechanism SCRAM-SHA-256, and the password in DATA_DIR/broker-password"

// FirstAdvice is [Advice] on an error of the first contact. There a reset of the
// connection is an answer, such as the embedded broker's to who does not authenticate;
// later, a broker may just have been stopped.
func FirstAdvice(err error) string {
	if advice := Advice(err); advice != "" || !errors.Is(err, syscall.ECONNRESET) {
		return advice
	}
	return requiresMore
}

// refusedByTLS reports an alert that the other side has sent. Package tls has no
// type of its own for those.
func refusedByTLS(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error"
}

// alertInPlaintext goes by the text, since the library has neither a type nor a
// value for what it reads where a port speaks TLS and we do not.
func alertInPlaintext(err error) bool {
	return err != nil && strings.Contains(err.Error(), "tls alert record")
}

// Advised adds the advice to an error that ends what a person started, unless it
// is in it.
func Advised(err error) error {
	return advised(err, Advice(err))
}

func advised(err error, advice string) error {
	if advice != "" && !saysAdvice(err.Error(), advice) {
		return fmt.Errorf("%w (%s)", err, advice)
	}
	return err
}

// saysAdvice reports whether an error's text holds the advice, or another one about
// ACLs, which knows more.
func saysAdvice(text, advice string) bool {
	return strings.Contains(text, advice) || strings.Contains(text, acl.See)
}
