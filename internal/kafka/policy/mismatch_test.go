package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// asCreated is what a topic is like right after these settings have created it.
func asCreated(t *testing.T, c Config, topic string) State {
	t.Helper()
	p, err := c.Of(topic)
	if err != nil {
		t.Fatal(err)
	}
	if p.Partitions == 0 {
		p.Partitions = deliverChoices()[0]
	}
	return State{Partitions: p.Partitions, Replicas: max(c.Replication, 1), Configs: p.Configs}
}

// everyTopic has one of each kind.
func everyTopic() []string {
	return []string{
		schemas.TopicRawEvents, schemas.TopicDeadLetters, schemas.TopicRedriven, schemas.TopicSeen, schemas.TopicJournal, schemas.TopicWorkspace,
		schemas.DeliverTopic("crm"), schemas.RetryTopic(time.Minute), schemas.ReplayTopic("crm"), schemas.TopicReplays,
	}
}

func TestWhatWeCreateIsNoMismatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Config{
		"Kafka":           {Partitions: 6, Replication: 3, MinInSync: 2, RawRetention: time.Hour},
		"defaults":        {Partitions: 6, Replication: -1, MinInSync: -1, RawRetention: time.Hour},
		"embedded":        {Partitions: 6, Replication: -1, MinInSync: -1, RawRetention: time.Hour, Embedded: true},
		"everything set":  {Partitions: 3, DeliverPartitions: 4, Replication: 2, MinInSync: 1, RawRetention: 2 * time.Hour, RawBytes: 5, DeliverRetention: 8 * time.Hour, RetryRetention: 9 * time.Hour, DeadLettersRetention: 10 * time.Hour, JournalRetention: 11 * time.Hour},
		"many partitions": {Partitions: 6, DeliverPartitions: 12, Replication: -1, MinInSync: -1, RawRetention: time.Hour},
	} {
		for _, topic := range everyTopic() {
			if got := c.Compare(topic, asCreated(t, c, topic)); len(got) > 0 {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
	if got := topicConfig.Compare("somebody-elses", State{Partitions: 99}); got != nil {
		t.Errorf("a topic that is not ours: %v", got)
	}
}

func TestMismatches(t *testing.T) {
	t.Parallel()
	config := Config{Partitions: 6, Replication: 3, MinInSync: 2, RawRetention: 48 * time.Hour}
	set := func(key, value string) func(*State) { return func(s *State) { s.Configs[key] = value } }
	partitions := func(n int) func(*State) { return func(s *State) { s.Partitions = n } }
	for name, c := range map[string]struct {
		topic  string
		change func(*State)
		grave  bool
		want   []string // parts of the line
	}{
		"partitions were added":       {schemas.TopicRawEvents, partitions(12), true, []string{"partitions is 12, expected 6", "out of order", "TOPIC_PARTITIONS=12"}},
		"fewer partitions":            {schemas.TopicRawEvents, partitions(3), false, []string{"partitions is 3, expected 6", "TOPIC_PARTITIONS=3"}},
		"of a destination":            {schemas.DeliverTopic("crm"), partitions(7), true, []string{"deliver.crm", "expected 6, 2 or 1", "DELIVER_TOPIC_PARTITIONS=7"}},
		"of a destination, fewer":     {schemas.DeliverTopic("crm"), partitions(4), false, []string{"DELIVER_TOPIC_PARTITIONS=4"}},
		"of retries":                  {schemas.RetryTopic(time.Minute), partitions(7), true, []string{"webhook-retry.1m"}},
		"of dead letters":             {schemas.TopicDeadLetters, partitions(7), false, []string{"dead-letters"}},
		"of the workspace":            {schemas.TopicWorkspace, partitions(2), false, []string{"only partition 0"}},
		"fewer replicas":              {schemas.TopicRawEvents, func(s *State) { s.Replicas = 2 }, true, []string{"replication.factor is 2, expected 3", "kafka-reassign-partitions.sh"}},
		"more replicas":               {schemas.TopicRawEvents, func(s *State) { s.Replicas = 4 }, false, []string{"TOPIC_REPLICATION=4"}},
		"fewer in sync":               {schemas.TopicRawEvents, set(minInSync, "1"), true, []string{"min.insync.replicas is 1, expected 2", "fewer copies", "--entity-name raw-events", "min.insync.replicas=2"}},
		"more in sync":                {schemas.TopicRawEvents, set(minInSync, "3"), false, []string{"TOPIC_MIN_INSYNC_REPLICAS=3"}},
		"more in sync than there is":  {schemas.TopicRawEvents, set(minInSync, "4"), true, []string{"at most 3", "refuse every record"}},
		"kept too short":              {schemas.DeliverTopic("crm"), set(RetentionMs, "3600000"), true, []string{"retention.ms is 3600000, expected 604800000", "deleted earlier", "DELIVER_TOPIC_RETENTION"}},
		"retries kept too short":      {schemas.RetryTopic(time.Minute), set(RetentionMs, "1"), true, []string{"RETRY_TOPIC_RETENTION"}},
		"too small for a batch":       {schemas.DeliverTopic("crm"), set(messageBytes, "65536"), true, []string{"max.message.bytes is 65536, expected at least 1000012", "dead-letters", "--entity-name deliver.crm --add-config max.message.bytes=1000012"}},
		"kept longer":                 {schemas.TopicRawEvents, set(RetentionMs, "-1"), false, []string{"kept longer", "RAW_EVENTS_RETENTION"}},
		"dead letters kept too short": {schemas.TopicDeadLetters, set(RetentionMs, "1"), true, []string{"DEAD_LETTERS_RETENTION"}},
		"marks kept too short":        {schemas.TopicRedriven, set(RetentionMs, "1"), false, []string{"DEAD_LETTERS_RETENTION"}},
		"bounded in bytes":            {schemas.DeliverTopic("crm"), set(RetentionBytes, "1000"), true, []string{"retention.bytes is 1000, expected -1"}},
		"history bounded":             {schemas.TopicRawEvents, set(RetentionBytes, "1000"), true, []string{"RAW_EVENTS_RETENTION_BYTES"}},
		"compacted":                   {schemas.TopicRawEvents, set(cleanupPolicy, "compact"), true, []string{"only the last"}},
		"state that is deleted":       {schemas.TopicWorkspace, set(cleanupPolicy, "delete"), true, []string{"expected compact", "forgotten", "cleanup.policy=compact"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := asCreated(t, config, c.topic)
			c.change(&state)
			got := config.Compare(c.topic, state)
			if len(got) != 1 {
				t.Fatalf("Compare = %v, want one mismatch", got)
			}
			m := got[0]
			if m.Grave != c.grave || m.Topic != c.topic || m.Meaning == "" || m.Advice == "" {
				t.Errorf("Compare = %+v, want grave %v, a meaning and an advice", m, c.grave)
			}
			for _, part := range c.want {
				if !strings.Contains(m.String(), part) {
					t.Errorf("no %q in %q", part, m)
				}
			}
		})
	}
}

// TestBatchBytesIsTheLibrarys: no client of ours sets another.
func TestBatchBytesIsTheLibrarys(t *testing.T) {
	t.Parallel()
	cl := testkit.Brokers(t).Client(t)
	if got := cl.OptValue(kgo.ProducerBatchMaxBytes); got != int32(BatchBytes) {
		t.Errorf("the library sends batches of %v bytes, expected %d", got, BatchBytes)
	}
}

// TestWhatIsNotKnownIsNotCompared: without permission there are no settings to
// compare, and what is left to the brokers is theirs.
func TestWhatIsNotKnownIsNotCompared(t *testing.T) {
	t.Parallel()
	config := Config{Partitions: 6, Replication: -1, MinInSync: -1, RawRetention: time.Hour}
	for _, topic := range everyTopic() {
		state := asCreated(t, config, topic)
		state.Replicas, state.Configs = 5, nil
		if got := config.Compare(topic, state); len(got) > 0 {
			t.Errorf("without settings: %v", got)
		}
		state.Configs = map[string]string{minInSync: "4"}
		if got := config.Compare(topic, state); len(got) > 0 {
			t.Errorf("with the brokers' default: %v", got)
		}
	}
}
