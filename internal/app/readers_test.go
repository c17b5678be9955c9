package app

import (
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/broker"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/personas"
	"github.com/anabranch/anabranch/router"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	webhooksink "github.com/anabranch/anabranch/webhook-sink"
)

func TestReaders(t *testing.T) {
	stages := Stages().Make()
	for topic, want := range map[string][]string{
		schemas.TopicRawEvents:              {router.Group, personas.Group},
		schemas.TopicPersonasInternal:       {personas.Group},
		schemas.TopicPersonasChangelog:      nil,
		schemas.DeliverTopic("crm"):         {webhooksink.Group},
		schemas.RetryTopic(5 * time.Second): {webhooksink.Group},
		schemas.ExportTopic("crm"):          nil,
		"shop.calls":                        nil,
		schemas.TopicDeadLetters:            nil,
		schemas.TopicRedriven:               nil,
		schemas.TopicWorkspace:              nil,
		schemas.TopicRegulations:            nil,
		schemas.TopicImports:                nil,
		schemas.TopicReplays:                nil,
	} {
		if diff := cmp.Diff(want, stages.Readers(topic)); diff != "" {
			t.Errorf("readers of %s (-want +got):\n%s", topic, diff)
		}
	}
}

// TestNothingAcceptedIsDeletedUnread starts `run` on a log that is older and larger
// than its topics may be: the broker trims it before the router and the sink have
// read anything of it, and all of it is delivered nevertheless.
func TestNothingAcceptedIsDeletedUnread(t *testing.T) {
	const unrouted, undelivered = 30, 20
	receiver := testkit.NewReceiver(t)
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, books(receiver.URL))
	env := environment(t)
	env["KAFKA_BROKERS"] = "" // it is the embedded broker that trims
	env = with(env, "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8", "WORKSPACE_FILE", file, "RAW_EVENTS_RETENTION_BYTES", "1", "ROUTER_START", "first")
	left(t, env["DATA_DIR"], func(client *kgo.Client) {
		put(t, client, schemas.TopicRawEvents, 0, unrouted)
		put(t, client, schemas.DeliverTopic("books"), unrouted, undelivered)
	})
	r := start(t, env)
	seen := make(map[any]bool)
	for _, d := range receiver.Wait(t, unrouted+undelivered) {
		seen[d.JSON(t)["messageId"]] = true
	}
	if len(seen) != unrouted+undelivered {
		t.Errorf("%d events were delivered, want %d", len(seen), unrouted+undelivered)
	}
	if status := r.post(t, "/v1/track", "wk_books", `{"userId":"u","event":"Signed Up"}`); status != http.StatusOK {
		t.Errorf("a call was answered %d", status)
	}
}

// left has fill write to topics in dir, in segments of a record each, all of which
// are too old and too much as soon as they are written.
func left(t *testing.T, dir string, fill func(*kgo.Client)) {
	t.Helper()
	b, err := broker.Open(broker.Config{DataDir: dir, Addr: "127.0.0.1:0"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	opts, err := settings.EmbeddedBroker(b).Options(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		t.Fatal(err)
	}
	none, small := "0", "100"
	configs := map[string]*string{"retention.ms": &none, "retention.bytes": &none, "segment.bytes": &small}
	if _, err = kadm.NewClient(client).CreateTopics(t.Context(), 1, 1, configs, schemas.TopicRawEvents, schemas.DeliverTopic("books")); err != nil {
		t.Fatal(err)
	}
	fill(client)
	client.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// put writes n events to a topic, each in a batch of its own. Their ids count from
// first.
func put(t *testing.T, client *kgo.Client, topic string, first, n int) {
	t.Helper()
	for i := range n {
		id := "m" + strconv.Itoa(first+i)
		h := schemas.Headers{Source: "books", Type: schemas.TypeTrack, MessageID: id, Origin: schemas.OriginAPI}
		record := &kgo.Record{
			Topic: topic, Key: []byte("u"), Headers: kafka.AddHeaders(nil, &h),
			Value: fmt.Appendf(nil, `{"event":"Signed Up","messageId":%q,"timestamp":"2026-11-21T01:04:29.457Z","type":"track","userId":"u"}`, id),
		}
		if err := client.ProduceSync(t.Context(), record).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}
