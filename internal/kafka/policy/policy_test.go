package policy

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

var topicConfig = Config{Partitions: 4, DeliverPartitions: 2, Replication: -1, MinInSync: -1, RawRetention: 48 * time.Hour}

// On the embedded broker nothing may be compacted: a crash in the midst of it
// loses keys.
func TestEmbeddedKeepsStateWhole(t *testing.T) {
	t.Parallel()
	c := topicConfig
	c.Embedded = true
	p, err := c.Of(schemas.TopicWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	if p.Configs["cleanup.policy"] != "delete" || p.Configs["retention.ms"] != "-1" || p.Configs["retention.bytes"] != "-1" {
		t.Errorf("workspace on the embedded broker: %v, want delete without end", p.Configs)
	}
}

// What the embedded broker keeps it reads into memory at its next start.
func TestEmbeddedBoundsItsHistory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config Config
		topic  string
		want   string
	}{
		"history, embedded":     {Config{Embedded: true}, schemas.TopicRawEvents, "134217728"},
		"history, as set":       {Config{Embedded: true, RawBytes: 5}, schemas.TopicRawEvents, "5"},
		"history, Kafka":        {Config{}, schemas.TopicRawEvents, "-1"},
		"history, Kafka as set": {Config{RawBytes: 5}, schemas.TopicRawEvents, "5"},
		"a backlog is not cut":  {Config{Embedded: true, RawBytes: 5}, schemas.DeliverTopic("crm"), "-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := c.config.Of(c.topic)
			if err != nil || p.Configs["retention.bytes"] != c.want {
				t.Errorf("retention.bytes of %s is %q, want %q (%v)", c.topic, p.Configs["retention.bytes"], c.want, err)
			}
		})
	}
}

func TestTopicConfigNamesWhatCannotWork(t *testing.T) {
	t.Parallel()
	good := Config{Partitions: 6, Replication: 3, MinInSync: 2, RawRetention: time.Hour}
	if err := good.Validate(); err != nil {
		t.Errorf("Validate of a good configuration = %v", err)
	}
	for want, change := range map[string]func(*Config){
		"TOPIC_PARTITIONS=0":                      func(c *Config) { c.Partitions = 0 },
		"DELIVER_TOPIC_PARTITIONS=20000":          func(c *Config) { c.DeliverPartitions = 20_000 },
		"TOPIC_REPLICATION=0":                     func(c *Config) { c.Replication = 0 },
		"TOPIC_REPLICATION=101":                   func(c *Config) { c.Replication = 101 },
		"TOPIC_MIN_INSYNC_REPLICAS=0":             func(c *Config) { c.MinInSync = 0 },
		"expected at most TOPIC_REPLICATION=3":    func(c *Config) { c.MinInSync = 4 },
		"RAW_EVENTS_RETENTION=1m0s":               func(c *Config) { c.RawRetention = time.Minute },
		"RAW_EVENTS_RETENTION_BYTES=-1":           func(c *Config) { c.RawBytes = -1 },
		"DELIVER_TOPIC_RETENTION=1h0m0s":          func(c *Config) { c.DeliverRetention = time.Hour },
		"RETRY_TOPIC_RETENTION=4h0m0s":            func(c *Config) { c.RetryRetention = 4 * time.Hour },
		"JOURNAL_RETENTION=1m0s":                  func(c *Config) { c.JournalRetention = time.Minute },
		"DEAD_LETTERS_RETENTION=-1s: expected at": func(c *Config) { c.DeadLettersRetention = -time.Second },
	} {
		bad := good
		change(&bad)
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Validate = %v, want %q in it and nothing else", err, want)
		}
	}
	all := Config{MinInSync: 5, RawBytes: -1, RetryRetention: 1}
	if err := all.Validate(); strings.Count(err.Error(), "\n") != 4 {
		t.Errorf("Validate = %v, want all five mistakes", err)
	}
}

// TestRetentionIsAsSet, each for its own topics, and the marks of redriven dead
// letters outlive the letters.
func TestRetentionIsAsSet(t *testing.T) {
	t.Parallel()
	set := Config{Remembered: 8 * time.Hour, RawRetention: time.Hour, DeliverRetention: 7 * time.Hour, RetryRetention: 8 * time.Hour, DeadLettersRetention: 9 * time.Hour, JournalRetention: 10 * time.Hour}
	embedded := Config{RawRetention: time.Hour, Embedded: true}
	for topic, want := range map[string]struct{ set, unset, embedded time.Duration }{
		schemas.TopicRawEvents:          {time.Hour, 0, time.Hour},
		schemas.DeliverTopic("crm"):     {7 * time.Hour, 168 * time.Hour, 24 * time.Hour},
		schemas.ReplayTopic("crm"):      {7 * time.Hour, 168 * time.Hour, 24 * time.Hour},
		schemas.RetryTopic(time.Minute): {8 * time.Hour, 168 * time.Hour, 24 * time.Hour},
		schemas.TopicDeadLetters:        {9 * time.Hour, 720 * time.Hour, 720 * time.Hour},
		schemas.TopicSeen:               {11 * time.Hour, 2 * time.Hour, 2 * time.Hour},
		schemas.TopicJournal:            {10 * time.Hour, 720 * time.Hour, 720 * time.Hour},
		schemas.TopicRedriven:           {18 * time.Hour, 1440 * time.Hour, 1440 * time.Hour},
	} {
		for config, want := range map[*Config]time.Duration{&set: want.set, {}: want.unset, &embedded: want.embedded} {
			p, err := config.Of(topic)
			if got := p.Configs[RetentionMs]; err != nil || got != strconv.FormatInt(want.Milliseconds(), 10) {
				t.Errorf("%s with %+v is kept for %s ms, want %s (%v)", topic, config, got, want, err)
			}
		}
	}
}

// TestMinInSyncIsTheBrokersUnlessSet, for every topic.
func TestMinInSyncIsTheBrokersUnlessSet(t *testing.T) {
	t.Parallel()
	for _, topic := range everyTopic() {
		for config, want := range map[*Config]string{{MinInSync: -1}: "", {MinInSync: 2}: "2"} {
			p, err := config.Of(topic)
			if got := p.Configs[minInSync]; err != nil || got != want {
				t.Errorf("min.insync.replicas of %s is %q, want %q (%v)", topic, got, want, err)
			}
		}
	}
}

// TestOptionalSettings: the embedded broker has none of them, and small indexes are
// for the topics that there are many of.
func TestOptionalSettings(t *testing.T) {
	t.Parallel()
	for _, topic := range everyTopic() {
		p, err := topicConfig.Of(topic)
		if err != nil || p.Optional[TimestampType] != "LogAppendTime" {
			t.Errorf("%s: %v (%v)", topic, p.Optional, err)
		}
		many := strings.HasPrefix(topic, "deliver.") || strings.HasPrefix(topic, "webhook-retry.") || strings.HasPrefix(topic, "replay.")
		if small := p.Optional[IndexBytes] == "1048576"; small != many {
			t.Errorf("%s: %v", topic, p.Optional)
		}
		if p, err = (Config{Embedded: true}).Of(topic); err != nil || len(p.Optional) > 0 {
			t.Errorf("%s on the embedded broker: %v (%v)", topic, p.Optional, err)
		}
	}
}

// TestTopicsForOthers are made as the workspace says, and as settings say where it does not.
// Nobody tells what is read of them, so on the embedded broker bytes bound them too.
func TestTopicsForOthers(t *testing.T) {
	t.Parallel()
	wanted := map[string]schemas.Export{"calls": {Partitions: 12, Retention: time.Hour}, schemas.ExportTopic("a"): {}}
	for name, tt := range map[string]struct {
		config     Config
		topic      string
		partitions int
		ms, bytes  string
	}{
		"as it says":        {Config{Exports: wanted, DeliverPartitions: 3}, "calls", 12, "3600000", "-1"},
		"as settings say":   {Config{Exports: wanted, DeliverPartitions: 3, DeliverRetention: 8 * time.Hour}, schemas.ExportTopic("a"), 3, "28800000", "-1"},
		"as usual":          {Config{}, schemas.ExportTopic("b"), 6, "604800000", "-1"},
		"embedded":          {Config{Exports: wanted, Embedded: true}, "calls", 12, "3600000", "33554432"},
		"embedded, usually": {Config{Embedded: true}, schemas.ExportTopic("a"), 6, "86400000", "33554432"},
		"an archive's":      {Config{}, schemas.ArchiveTopic("a"), 6, "604800000", "-1"},
	} {
		p, err := tt.config.Of(tt.topic)
		if err != nil || p.Partitions != tt.partitions || p.Configs[RetentionMs] != tt.ms || p.Configs[RetentionBytes] != tt.bytes {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	if _, err := (Config{}).Of("calls"); err == nil {
		t.Error("a topic that no workspace names is ours")
	}
}
