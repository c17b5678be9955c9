package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/schemas"
)

// consumer reads topics of a process from their start.
func consumer(t *testing.T, env map[string]string, topics ...string) *kgo.Client {
	t.Helper()
	cfg, err := settings.Load(env, Stages())
	if err != nil {
		t.Fatal(err)
	}
	brokers, err := cfg.Brokers()
	if err != nil {
		t.Fatal(err)
	}
	opts, err := brokers.Options(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	cl, err := kgo.NewClient(append(opts, kgo.ConsumeTopics(topics...), kgo.ConsumeRegex(),
		kgo.FetchMaxWait(100*time.Millisecond), kgo.MetadataMinAge(100*time.Millisecond))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// awaitDeadLetters waits until each of the destinations has one.
func awaitDeadLetters(t *testing.T, env map[string]string, destinations []string) {
	t.Helper()
	cl := consumer(t, env, "^"+schemas.TopicDeadLetters+"$")
	missing := slices.Clone(destinations)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for len(missing) > 0 {
		fetches := cl.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("no dead letter of %v", missing)
		}
		fetches.EachRecord(func(record *kgo.Record) {
			missing = slices.DeleteFunc(missing, func(name string) bool { return header(record, "destination") == name })
		})
	}
}

func header(record *kgo.Record, key string) string {
	for _, h := range record.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// inURLs are the secrets that are part of an endpoint's URL, which is not encrypted in
// the topic of the workspace.
var inURLs = strings.NewReplacer("zqUser7", "", "zqPassword7", "", "zqQuery7", "")

// contents returns what all topics hold, but for URLs in the workspace and for what
// poison wrote to it. It has read them when nothing comes any more.
func contents(t *testing.T, env map[string]string) map[string]string {
	t.Helper()
	cl := consumer(t, env, "^[a-z].*")
	all := make(map[string]string)
	until := time.Now().Add(30 * time.Second)
	for idle := false; !idle || len(all) == 0; {
		if time.Now().After(until) {
			t.Fatal("the topics are empty, or never end")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		fetches := cl.PollFetches(ctx)
		idle = errors.Is(ctx.Err(), context.DeadlineExceeded)
		cancel()
		fetches.EachRecord(func(record *kgo.Record) {
			text := fmt.Sprintf("%s\n%s\n%s\n", record.Key, record.Value, record.Headers)
			if record.Topic == schemas.TopicWorkspace {
				text = inURLs.Replace(text)
			}
			if poisonous[string(record.Key)] == "" {
				all[record.Topic] += text
			}
		})
	}
	return all
}

// poisonous are records of the workspace topic that no version of ours would write.
var poisonous = map[string]string{
	"destination/one":   `{"type":"webhooks","name":"n","sources":[],"enabled":true,"sharedSecret":"zqSharedLiteral7","endpoints":[{"url":"ftp://zqUser7:zqPassword7@h/?zqQuery7"}]}`,
	"destination/two":   `{"sharedSecret":"zqSharedLiteral7" "zqHeaderLiteral7"}`,
	"destination/three": `{"type":"webhooks","enabled":"zqSharedLiteral7"}`,
	"destination/four":  `{"type":"webhooks","endpoints":[{"url":"http://h","headers":[{"name":"X Y","value":"zqHeaderLiteral7"}]}]}`,
	"source/one":        `{"writeKeySHA256":"zqKeyLiteral7"}`,
}

// poison writes them.
func poison(t *testing.T, env map[string]string) {
	t.Helper()
	cl := consumer(t, env, "^"+schemas.TopicWorkspace+"$")
	for key, value := range poisonous {
		record := &kgo.Record{Topic: schemas.TopicWorkspace, Key: []byte(key), Value: []byte(value)}
		if err := cl.ProduceSync(t.Context(), record).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}
