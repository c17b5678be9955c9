package regulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// process is a service with what an ingest process has around it.
type process struct {
	*Service
	log      *testkit.Logs
	registry *prometheus.Registry
	broken   error // what Ready returns
	mu       sync.Mutex
}

func (p *process) outage(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = err
}

func (p *process) ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.broken
}

// twoSources is a workspace in which both have an enabled destination.
func twoSources() *workspace.Snapshot {
	return workspace.NewSnapshot([]workspace.Source{
		{ID: "website", WriteKeyHash: [32]byte{1}, Enabled: true}, {ID: "app", WriteKeyHash: [32]byte{2}, Enabled: true},
	}, []workspace.Destination{{ID: "crm", Sources: []string{"website", "app"}, Enabled: true}})
}

// newProcess returns a process whose register has what the topic holds. Its
// service does not run yet.
func newProcess(t *testing.T, c *testkit.Cluster) *process {
	t.Helper()
	p := &process{log: new(testkit.Logs), registry: prometheus.NewRegistry()}
	register := regulation.NewRegister(nil, nil)
	log := slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	set := wstopic.FollowerSettings{
		Logger: log, Registerer: p.registry, Kafka: c.Options(),
		Live: workspace.NewLive(workspace.NewSnapshot(nil, nil)), Regulations: register,
	}
	f := wstopic.NewRegulationsFollower(set, wstopic.NewFollower(set))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("follower: %v", err)
		}
		if t.Failed() {
			t.Logf("log:\n%s", p.log)
		}
	})
	testkit.Until(t, func() bool { return f.Ready() == nil }, "the follower to be ready")
	p.Service = New(Settings{
		Logger: log, Registerer: p.registry, Workspace: workspace.NewLive(twoSources()), Register: register,
		Ledger: &regulation.Ledger{Kafka: c.Options(), TransactionalID: "test-regulation", Register: register}, Ready: p.ready,
	})
	return p
}

// run runs the service until the test ends or the result is called.
func (p *process) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	t.Cleanup(stop)
	testkit.Until(t, p.serving, "the service to run")
	return stop
}

func start(t *testing.T, c *testkit.Cluster) *process {
	t.Helper()
	p := newProcess(t, c)
	p.run(t)
	return p
}

func topics(t *testing.T, c *testkit.Cluster) {
	t.Helper()
	c.CreateTopics(t, 1, schemas.TopicRegulations)
	c.CreateTopics(t, 3, schemas.TopicRawEvents)
}

func (p *process) ask(t *testing.T, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
	return w
}

func text(kind regulation.Type, users ...string) string {
	ids, _ := json.Marshal(users)
	return fmt.Sprintf(`{"regulationType":%q,"subjectType":"USER_ID","subjectIds":%s}`, kind, ids)
}

// regulate asks for a regulation and returns its id.
func (p *process) regulate(t *testing.T, kind regulation.Type, users ...string) string {
	t.Helper()
	w := p.ask(t, http.MethodPost, "/regulations", text(kind, users...))
	var a created
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != http.StatusOK || a.Data.RegulateID == "" {
		t.Fatalf("answered %d %s", w.Code, w.Body)
	}
	return a.Data.RegulateID
}

func (p *process) status(t *testing.T, id string) statusBody {
	t.Helper()
	w := p.ask(t, http.MethodGet, "/regulations/"+id, "")
	var a status
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != http.StatusOK {
		t.Fatalf("answered %d %s", w.Code, w.Body)
	}
	return a.Data.Regulation
}

func (p *process) awaitEnd(t *testing.T, id string) statusBody {
	t.Helper()
	testkit.Until(t, func() bool { return p.status(t, id).Status.Final() }, "the regulation to end")
	return p.status(t, id)
}

// users returns n ids.
func users(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("user-%d", i)
	}
	return ids
}

// notified waits for n notifications and checks that no two are the same.
func notified(t *testing.T, c *testkit.Cluster, n int) {
	t.Helper()
	seen := make(map[string]bool)
	for _, r := range c.ReadAll(t, schemas.TopicRawEvents, n) {
		seen[string(r.Value)] = true
	}
	if len(seen) != n {
		t.Errorf("%d of %d notifications differ", len(seen), n)
	}
}

var errOutage = errors.New("the brokers do not answer")
