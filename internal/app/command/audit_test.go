package command

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestAnAuditFromCron says by its exit code in which state a cluster is: 0 only where it has
// looked, and 2 with what kept it from that.
func TestAnAuditFromCron(t *testing.T) {
	topics := []string{schemas.TopicRawEvents, schemas.TopicJournal, schemas.TopicDeadLetters, schemas.TopicRedriven}
	refuse := func(key kmsg.Key, topic string, err *kerr.Error) *kfake.Fault {
		return &kfake.Fault{Keys: []kmsg.Key{key}, Topic: topic, Err: err, Count: -1}
	}
	for name, c := range map[string]struct {
		topics []string
		fault  *kfake.Fault
		code   int
		says   string
	}{
		"nothing was ever started": {code: 2, says: "topic raw-events is not there"},
		"no call has come":         {topics: topics, says: "it adds up"},
		"raw-events is refused": {
			topics, refuse(kmsg.ListOffsets, schemas.TopicRawEvents, kerr.TopicAuthorizationFailed), 2, "how far the router is",
		},
		"the journal is refused": {
			topics, refuse(kmsg.ListOffsets, schemas.TopicJournal, kerr.TopicAuthorizationFailed), 2, "journal",
		},
		"dead letters are refused": {
			topics, refuse(kmsg.ListOffsets, schemas.TopicDeadLetters, kerr.TopicAuthorizationFailed), 2, "dead-letters",
		},
		"groups are refused": {topics, refuse(kmsg.OffsetFetch, "", kerr.GroupAuthorizationFailed), 2, "anabranch-"},
		"there is no journal": {
			topics: []string{schemas.TopicRawEvents, schemas.TopicDeadLetters, schemas.TopicRedriven}, says: "it adds up",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := testkit.Fake(t)
			if len(c.topics) > 0 {
				cluster.CreateTopics(t, 3, c.topics...)
			}
			if c.fault != nil {
				cluster.Fake.Fault(*c.fault)
			}
			t.Setenv("KAFKA_BROKERS", strings.Join(cluster.Addrs, ","))
			out, err := typed(t, "audit", "--since", "1h")
			code := 0
			if err != nil {
				out += err.Error()
				code = ExitCode(err)
			}
			if code != c.code || !strings.Contains(out, c.says) {
				t.Errorf("exit code %d, want %d; want %q in\n%s", code, c.code, c.says, out)
			}
		})
	}
}
