package schemas_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

func TestDeliverTopic(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"crm", "a", "0", "-", strings.Repeat("z", 64), "deliver", "webhook-retry"} {
		topic := schemas.DeliverTopic(id)
		if got, ok := schemas.DestinationOf(topic); topic != "deliver."+id || !ok || got != id {
			t.Errorf("DestinationOf(%s) = %q, %t, want %q", topic, got, ok, id)
		}
	}
}

func TestDestinationOfOtherTopics(t *testing.T) {
	t.Parallel()
	for _, topic := range []string{"", "deliver", "deliver.", "deliver.CRM", "deliver.a.b", "Deliver.crm", "xdeliver.crm", "deliver.a_b", "deliver." + strings.Repeat("z", 65), "raw-events", "webhook-retry.5s", schemas.TopicDeadLetters, schemas.TopicRedriven} {
		if id, ok := schemas.DestinationOf(topic); ok || id != "" {
			t.Errorf("DestinationOf(%s) = %q, %t, want none", topic, id, ok)
		}
	}
}

func TestReplayTopic(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"crm", "0", "-", strings.Repeat("z", 64), "replay", "deliver"} {
		topic := schemas.ReplayTopic(id)
		if got, ok := schemas.ReplayedTo(topic); topic != "replay."+id || !ok || got != id {
			t.Errorf("ReplayedTo(%s) = %q, %t, want %q", topic, got, ok, id)
		}
	}
	for _, topic := range []string{"", "replay", "replay.", "replay.CRM", "replay.a.b", "xreplay.crm", "replay." + strings.Repeat("z", 65), "deliver.crm", schemas.TopicReplays} {
		if id, ok := schemas.ReplayedTo(topic); ok || id != "" {
			t.Errorf("ReplayedTo(%s) = %q, %t, want none", topic, id, ok)
		}
	}
}

func TestRetryTopic(t *testing.T) {
	t.Parallel()
	for want, delay := range map[string]time.Duration{
		"webhook-retry.0s":                            0,
		"webhook-retry.1ns":                           1,
		"webhook-retry.500us":                         500 * time.Microsecond,
		"webhook-retry.250ms":                         250 * time.Millisecond,
		"webhook-retry.1s500ms":                       1500 * time.Millisecond,
		"webhook-retry.5s":                            5 * time.Second,
		"webhook-retry.30s":                           30 * time.Second,
		"webhook-retry.2m":                            2 * time.Minute,
		"webhook-retry.1m30s":                         90 * time.Second,
		"webhook-retry.1h":                            time.Hour,
		"webhook-retry.1h1s":                          time.Hour + time.Second,
		"webhook-retry.4h":                            4 * time.Hour,
		"webhook-retry.26h":                           26 * time.Hour,
		"webhook-retry.2562047h47m16s854ms775us807ns": math.MaxInt64,
	} {
		if got := schemas.RetryTopic(delay); got != want {
			t.Errorf("RetryTopic(%v) = %s, want %s", delay, got, want)
		}
		if got, ok := schemas.RetryDelayOf(want); !ok || got != delay {
			t.Errorf("RetryDelayOf(%s) = %v, %t, want %v", want, got, ok, delay)
		}
	}
}

// One delay, one topic: another spelling of the same delay is no retry topic.
func TestRetryDelayOfOtherTopics(t *testing.T) {
	t.Parallel()
	for _, topic := range []string{"", "webhook-retry", "webhook-retry.", "webhook-retry.0", "webhook-retry.60s", "webhook-retry.2m0s", "webhook-retry.1.5s", "webhook-retry.500µs", "webhook-retry.-5s", "webhook-retry.+5s", "webhook-retry.05s", "webhook-retry.5S", "webhook-retry.5s ", "webhook-retry.9999999h", "deliver.5s"} {
		if delay, ok := schemas.RetryDelayOf(topic); ok || delay != 0 {
			t.Errorf("RetryDelayOf(%s) = %v, %t, want none", topic, delay, ok)
		}
	}
}

func FuzzRetryDelayOf(f *testing.F) {
	for _, seed := range []string{"webhook-retry.5s", "webhook-retry.1m30s", "webhook-retry.60s", "webhook-retry.1h2m3s4ms5us6ns", "deliver.crm", ""} {
		f.Add(seed, int64(len(seed)))
	}
	f.Fuzz(func(t *testing.T, topic string, nanos int64) {
		if delay, ok := schemas.RetryDelayOf(topic); ok && (delay < 0 || schemas.RetryTopic(delay) != topic) {
			t.Errorf("RetryDelayOf(%q) = %v, whose topic is %s", topic, delay, schemas.RetryTopic(delay))
		}
		delay := time.Duration(nanos & math.MaxInt64)
		name := schemas.RetryTopic(delay)
		if got, ok := schemas.RetryDelayOf(name); !ok || got != delay {
			t.Errorf("RetryDelayOf(%s) = %v, %t, want %v", name, got, ok, delay)
		}
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" || len(name) > schemas.MaxTopicBytes {
			t.Errorf("%q is no name for a topic", name)
		}
	})
}

func TestValidID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"a": true, "website": true, "eu-west-1": true, "-": true, "0": true,
		strings.Repeat("a", 64): true, strings.Repeat("a", 65): false,
		"": false, "A": false, "a_b": false, "a.b": false, "a b": false, "é": false, "a\n": false, "a/": false, "{": false, "`": false, ":": false,
	} {
		if got := schemas.ValidID(id); got != want {
			t.Errorf("ValidID(%q) = %t, want %t", id, got, want)
		}
	}
}

func TestPrefixOf(t *testing.T) {
	for topic, want := range map[string]string{
		"deliver.crm": schemas.DeliverPrefix, "webhook-retry.5s": schemas.RetryPrefix, "replay.crm": schemas.ReplayPrefix,
		"deliver.CRM": "", "webhook-retry.60s": "", "replay.a.b": "", schemas.TopicReplays: "", schemas.TopicRawEvents: "", "payments": "",
	} {
		if got := schemas.PrefixOf(topic); got != want {
			t.Errorf("PrefixOf(%q) = %q, want %q", topic, got, want)
		}
		family := topic
		if want != "" {
			family, _, _ = strings.Cut(topic, ".")
		}
		if got := schemas.FamilyOf(topic); got != family {
			t.Errorf("FamilyOf(%q) = %q, want %q", topic, got, family)
		}
	}
}

// TestATopicTellsWhatItIsOf by its name alone: ids have no dots.
func TestATopicTellsWhatItIsOf(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"crm", "export", "archive", "-", strings.Repeat("z", 64)} {
		for topic, prefix := range map[string]string{
			schemas.DeliverTopic(id): schemas.DeliverPrefix, schemas.ExportTopic(id): schemas.ExportPrefix, schemas.ArchiveTopic(id): schemas.ArchivePrefix,
		} {
			of, ok := schemas.RoutedTo(topic)
			if _, webhooks := schemas.DestinationOf(topic); of != id || !ok || schemas.PrefixOf(topic) != prefix || webhooks != (prefix == schemas.DeliverPrefix) {
				t.Errorf("%s is of %q and begins with %s", topic, of, schemas.PrefixOf(topic))
			}
			if !schemas.Reserved(topic) || !schemas.ValidTopic(topic) {
				t.Errorf("%s is free for others, or no topic", topic)
			}
		}
	}
	for _, topic := range []string{"deliver.export.", "deliver.export.a.b", "deliver.other.a", "raw-events", "calls", ""} {
		if id, ok := schemas.RoutedTo(topic); ok {
			t.Errorf("%s is of %s", topic, id)
		}
	}
}

func TestTopicsOfOthers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"calls", "shop.calls", "Shop_Calls-2", "deliver", "journal2", strings.Repeat("a", 249)} {
		if !schemas.ValidTopic(name) || schemas.Reserved(name) {
			t.Errorf("%s: valid %t, reserved %t", name, schemas.ValidTopic(name), schemas.Reserved(name))
		}
	}
	for _, name := range []string{"", ".", "..", "a/b", "ä", "a b", strings.Repeat("a", 250)} {
		if schemas.ValidTopic(name) {
			t.Errorf("%q is valid", name)
		}
	}
	for _, name := range []string{"raw-events", "workspace", "journal", "personas-x", "anabranch-x", "webhook-retry.x", "deliver.x.y", "__consumer_offsets"} {
		if !schemas.Reserved(name) {
			t.Errorf("%s is free for others", name)
		}
	}
}
