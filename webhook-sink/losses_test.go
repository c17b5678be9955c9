package webhooksink

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/internal/config"
)

// TestWhatRetentionDeletedIsTold: a sink that was away for longer than the topics
// keep events says what it will never deliver, and delivers the rest.
func TestWhatRetentionDeletedIsTold(t *testing.T) {
	t.Parallel()
	p := newPlant(t, testkit.Brokers(t), 1, destination("crm"))
	retries := schemas.RetryTopic(config.Default().RetryDelays[0])
	p.ensure(retries)
	p.produce("crm", "k", ids("e", 10)...)
	for _, id := range ids("r", 10) {
		record := event("crm", "k", id, 0)
		h := headersOf(t, record)
		h.Destination, h.Attempt = "crm", 1
		record.Topic = retries
		kafka.SetHeaders(record, &h)
		p.write(record)
	}
	p.cluster.Commit(t, Group, schemas.DeliverTopic("crm"), 2)
	p.cluster.Commit(t, Group, retries, 1)
	p.cluster.DeleteBefore(t, schemas.DeliverTopic("crm"), 7)
	p.cluster.DeleteBefore(t, retries, 8)
	log := new(testkit.Logs)
	l := newLedger(time.Millisecond)
	r := p.start(l.attempt, func(_ *Config, set *Settings) {
		set.Logger = slog.New(slog.NewTextHandler(log, nil))
	})
	testkit.Until(t, func() bool { return distinct(l.all()) == 5 }, "what is left to be delivered")
	r.end()
	l.once(t, append(ids("e", 10)[7:], ids("r", 10)[8:]...))
	if fresh, late := r.metric("lost_offsets_total", "deleted", "deliver"), r.metric("lost_offsets_total", "deleted", "webhook-retry"); fresh != 5 || late != 7 {
		t.Errorf("%v and %v offsets are counted as deleted, want 5 and 7", fresh, late)
	}
	for _, part := range []string{
		"topic=deliver.crm partition=0 from=2 to=7 offsets=5", "setting=DELIVER_TOPIC_RETENTION",
		"topic=" + retries + " partition=0 from=1 to=8 offsets=7", "setting=RETRY_TOPIC_RETENTION",
	} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the log does not say %s:\n%s", part, log)
		}
	}
}
