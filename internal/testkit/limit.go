package testkit

import (
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Limit has a topic refuse batches of more than so many bytes, as they are on the
// wire: compressed, with 61 bytes of their own.
func (c *Cluster) Limit(tb testing.TB, topic string, bytes int) {
	tb.Helper()
	value := strconv.Itoa(bytes)
	set := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "max.message.bytes", Value: &value}}
	answers, err := c.admin(tb).AlterTopicConfigs(tb.Context(), set, topic)
	if err == nil {
		_, err = answers.On(topic, func(r *kadm.AlterConfigsResponse) error { return r.Err })
	}
	if err != nil {
		tb.Fatalf("limit batches of %s: %v", topic, err)
	}
}
