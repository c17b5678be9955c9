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
	c.alter(tb, topic, "max.message.bytes", strconv.Itoa(bytes))
}

// KeepTimestamps has a topic keep the time stamps that records are written with, which
// the topics of a real broker replace by its own time.
func (c *Cluster) KeepTimestamps(tb testing.TB, topic string) {
	tb.Helper()
	c.alter(tb, topic, "message.timestamp.type", "CreateTime")
}

func (c *Cluster) alter(tb testing.TB, topic, name, value string) {
	tb.Helper()
	set := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: name, Value: &value}}
	answers, err := c.admin(tb).AlterTopicConfigs(tb.Context(), set, topic)
	if err == nil {
		_, err = answers.On(topic, func(r *kadm.AlterConfigsResponse) error { return r.Err })
	}
	if err != nil {
		tb.Fatalf("set %s of %s: %v", name, topic, err)
	}
}
