package ingest

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

const (
	goodKey     = "wk_website"
	disabledKey = "wk_disabled"
)

// success is all that an SDK may be told when all went well (protocol, 1).
const success = `{"success":true}`

// noon is when every request of a test is received.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func testWorkspace() *workspace.Snapshot {
	return workspace.NewSnapshot([]workspace.Source{
		{ID: "website", WriteKeyHash: workspace.HashWriteKey(goodKey), Enabled: true},
		{ID: "app", WriteKeyHash: workspace.HashWriteKey("wk_app"), Enabled: true},
		{ID: "captured", WriteKeyHash: workspace.HashWriteKey("WK_TEST"), Enabled: true},
		{ID: "retired", WriteKeyHash: workspace.HashWriteKey(disabledKey)},
	}, nil)
}

// stage is an Ingest with all that a test looks at.
type stage struct {
	*Ingest
	cluster  *testkit.Cluster
	registry *prometheus.Registry
	log      *testkit.Logs
	client   *http.Client
	full     atomic.Pointer[error] // why raw-events is full; nil: it is not
}

// newStage returns a stage whose clients are made with options, and whose settings
// are usual but for what is configured. It does not run yet.
func newStage(t *testing.T, options []kgo.Opt, configure ...func(*Config)) *stage {
	t.Helper()
	admin, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	cfg := Config{
		Addr: "127.0.0.1:0", ProduceTimeout: 10 * time.Second, Linger: time.Millisecond,
		MaxBufferedRecords: 20_000, MaxBufferedBytes: 32 << 20, MaxBatchBytes: schemas.MaxBatchBytes,
	}
	for _, set := range configure {
		set(&cfg)
	}
	s := &stage{registry: prometheus.NewRegistry(), log: new(testkit.Logs), client: &http.Client{Transport: &http.Transport{}}}
	in, err := New(cfg, Settings{
		Logger:     slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Registerer: s.registry,
		Workspace:  workspace.NewLive(testWorkspace()),
		Kafka:      options,
		Full: func() error {
			if err := s.full.Load(); err != nil {
				return *err
			}
			return nil
		},
		// One partition: what is read back is in the order in which it was sent.
		Topics: topics.New(admin, policy.Config{Partitions: 1, Replication: -1, RawRetention: time.Hour}),
	})
	if err != nil {
		t.Fatal(err)
	}
	in.handler.now = func() time.Time { return noon }
	s.Ingest = in
	return s
}

// start runs a stage until the test ends and returns when it is ready.
func start(t *testing.T, cluster *testkit.Cluster, configure ...func(*Config)) *stage {
	t.Helper()
	s := newStage(t, cluster.Options(), configure...)
	s.cluster = cluster
	s.run(t)
	testkit.Until(t, func() bool { return s.Ready() == nil }, "the stage to be ready")
	return s
}

// run runs the stage until the test ends, or until stop is called.
func (s *stage) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		stop()
	})
	return stop
}

// reply is what a client sees.
type reply struct {
	status int
	body   string
	header http.Header
}

// post sends a body with the good key, which an option may take away.
func (s *stage) post(t *testing.T, path, body string, options ...func(*http.Request)) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.Addr()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(goodKey, "")
	for _, option := range options {
		option(r)
	}
	a, err := s.do(r)
	if err != nil {
		t.Error(err) // not Fatal: clients may be goroutines of their own
	}
	return a
}

func (s *stage) do(r *http.Request) (reply, error) {
	resp, err := s.client.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, string(text), resp.Header}, err
}

func noAuth(r *http.Request) { r.Header.Del("Authorization") }

func with(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func method(name string) func(*http.Request) {
	return func(r *http.Request) { r.Method = name }
}

// render shows a record as one text: key, headers in their order, value.
func render(r *kgo.Record) string {
	var b strings.Builder
	b.WriteString(string(r.Key))
	for _, h := range r.Headers {
		b.WriteString(" " + h.Key + "=" + string(h.Value))
	}
	b.WriteString(" " + string(r.Value))
	return b.String()
}

// stored returns all that is on raw-events, which must be n records.
func (s *stage) stored(t *testing.T, n int) []string {
	t.Helper()
	var texts []string
	for _, r := range s.cluster.ReadAll(t, schemas.TopicRawEvents, n) {
		texts = append(texts, render(r))
	}
	return texts
}
