package kafka

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

const (
	mechanismPlain    = "PLAIN"
	mechanismScram256 = "SCRAM-SHA-256"
	mechanismScram512 = "SCRAM-SHA-512"
)

// sasl returns how to authenticate; nil: not at all.
func (c Config) sasl() (sasl.Mechanism, error) {
	mechanisms := []string{mechanismPlain, mechanismScram256, mechanismScram512}
	oneOf := strings.Join(mechanisms, ", ")
	switch {
	case c.SASLMechanism == "" && c.Username != "":
		return nil, fmt.Errorf("KAFKA_SASL_MECHANISM is empty but KAFKA_USERNAME=%s is set: expected one of %s", c.Username, oneOf)
	case c.SASLMechanism == "" && c.Password != "":
		return nil, fmt.Errorf("KAFKA_SASL_MECHANISM is empty but KAFKA_PASSWORD is set: expected one of %s", oneOf)
	case c.SASLMechanism == "":
		return nil, nil
	case !slices.Contains(mechanisms, c.SASLMechanism):
		return nil, fmt.Errorf("KAFKA_SASL_MECHANISM=%s: expected one of %s", c.SASLMechanism, oneOf)
	case c.Username == "":
		return nil, errors.New("KAFKA_USERNAME is empty: expected a user name for KAFKA_SASL_MECHANISM=" + c.SASLMechanism)
	case c.Password == "":
		return nil, errors.New("KAFKA_PASSWORD is empty: expected the password of KAFKA_USERNAME=" + c.Username)
	}
	user, password := c.Username, c.Password.Reveal()
	switch c.SASLMechanism {
	case mechanismPlain:
		return plain.Auth{User: user, Pass: password}.AsMechanism(), nil
	case mechanismScram256:
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism(), nil
	default:
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism(), nil
	}
}
