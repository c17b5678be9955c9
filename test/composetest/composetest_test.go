package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
	"github.com/anabranch/anabranch/test/composetest/printed"
	"github.com/anabranch/anabranch/test/composetest/stack"
	"github.com/anabranch/anabranch/test/storm/books"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	sent := books.Tally{Sent: 10}
	for name, c := range map[string]struct {
		result  result
		repeats bool
		want    string // empty: none
	}{
		"all well":                {result: result{tally: sent}},
		"nothing sent":            {result: result{}, want: "shows nothing"},
		"the step itself":         {result: result{tally: sent, err: errors.New("no container")}, want: "no container"},
		"refused":                 {result: result{tally: sent, unsent: 2}, want: "2 calls were refused"},
		"lost":                    {result: result{tally: books.Tally{Sent: 10, Lost: 3}}, repeats: true, want: "3 acknowledged calls did not arrive"},
		"unsigned":                {result: result{tally: sent, broken: []string{"a: BAD"}}, repeats: true, want: "1 signatures do not hold, the first of a: BAD"},
		"doubled by its client":   {result: result{tally: books.Tally{Sent: 10, Doubled: 4}, again: 4}},
		"doubled by itself":       {result: result{tally: books.Tally{Sent: 10, Doubled: 4}, unasked: 4}, want: "4 calls were delivered twice"},
		"doubled where it may be": {result: result{tally: books.Tally{Sent: 10, Doubled: 4}, unasked: 4}, repeats: true},
		"out of order":            {result: result{tally: books.Tally{Sent: 10, Inverted: 1}}, repeats: true, want: "behind younger ones"},
	} {
		faults := c.result.faults(c.repeats)
		if c.want == "" && len(faults) > 0 || c.want != "" && (len(faults) != 1 || !strings.Contains(faults[0].Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, faults, c.want)
		}
	}
}

func TestSelectSteps(t *testing.T) {
	t.Parallel()
	all, err := selectSteps("")
	if err != nil || len(all) != len(steps()) {
		t.Errorf("without names: %d steps, %v", len(all), err)
	}
	some, err := selectSteps("kill-sink,steady")
	if err != nil || len(some) != 2 || some[0].name != "kill-sink" || some[1].name != "steady" {
		t.Errorf("two of them: %v, %v", some, err)
	}
	if _, err = selectSteps("steady,sleep"); err == nil || !strings.Contains(err.Error(), `"sleep"`) {
		t.Errorf("one that does not exist: %v", err)
	}
}

func TestCommandLine(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out strings.Builder
	if err := run(t.Context(), []string{"-list"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, s := range steps() {
		if !strings.Contains(out.String(), s.name) || !strings.Contains(out.String(), s.about) {
			t.Errorf("the list leaves out %s", s.name)
		}
	}
	if err := run(t.Context(), []string{"-steps", "sleep"}, io.Discard); err == nil {
		t.Error("a step that does not exist can be run")
	}
	if err := run(t.Context(), []string{"-compose", "nobody"}, io.Discard); err == nil {
		t.Error("a Compose that does not exist can be run")
	}
}

// bench is a test whose product is a function: it is handed the messageIds of each
// batch, and answers with a status. The step that comes with it lasts until there
// have been a few batches.
func bench(t *testing.T, product func(t *test, ids []string) int) (*test, step) {
	t.Helper()
	tt := newTest(&stack.Stack{}, &options{rate: 500, patience: time.Minute}, io.Discard)
	batches := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var ids []string
		for _, text := range strings.Split(string(body), `"messageId":"`)[1:] {
			id, _, _ := strings.Cut(text, `"`)
			ids = append(ids, id)
		}
		w.WriteHeader(product(tt, ids))
		select {
		case batches <- struct{}{}:
		case <-t.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	tt.opts.collect = server.URL
	return tt, step{name: "s", do: func(context.Context, *test) error {
		for range 5 {
			<-batches
		}
		go func() {
			for {
				select {
				case <-batches:
				case <-t.Context().Done():
					return
				}
			}
		}()
		return nil
	}}
}

func deliver(signature string, times int) func(*test, []string) int {
	return func(t *test, ids []string) int {
		for _, id := range ids {
			for range times {
				t.seen(printed.Delivery{Signature: signature, MessageID: id})
			}
		}
		return http.StatusOK
	}
}

// TestUnderLoad: the books have to find what a product does wrong.
func TestUnderLoad(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	refused := false
	for name, c := range map[string]struct {
		product func(*test, []string) int
		holds   func(*result) bool
		// impatient cases are those in which something is waited for in vain.
		impatient bool
	}{
		"delivers": {
			deliver("ok", 1),
			func(r *result) bool { return len(r.faults(false)) == 0 && r.tally.Sent >= 5 && r.tally.Doubled == 0 },
			false,
		},
		"delivers what is not of this run": {
			func(t *test, ids []string) int {
				t.seen(printed.Delivery{Signature: "ok", MessageID: "somebody's"})
				return deliver("ok", 1)(t, ids)
			},
			func(r *result) bool { return len(r.faults(false)) == 0 },
			false,
		},
		"loses": {
			func(t *test, ids []string) int { return deliver("ok", 1)(t, ids[1:]) },
			func(r *result) bool { return r.tally.Lost > 0 && len(r.faults(true)) > 0 },
			true,
		},
		"doubles": {
			deliver("ok", 2),
			func(r *result) bool {
				return r.unasked >= r.tally.Sent && len(r.faults(false)) == 1 && len(r.faults(true)) == 0
			},
			false,
		},
		"signs wrongly": {
			deliver("BAD: no", 1),
			func(r *result) bool { return len(r.broken) >= r.tally.Sent && r.tally.Lost == r.tally.Sent },
			true,
		},
		"refuses": {
			func(*test, []string) int { return http.StatusServiceUnavailable },
			func(r *result) bool { return r.unsent > 0 && r.tally.Sent == 0 && len(r.faults(true)) == 2 },
			true,
		},
		"stores and says that it has not": {
			func(t *test, ids []string) int {
				mu.Lock()
				defer mu.Unlock()
				if status := deliver("ok", 1)(t, ids); refused {
					return status
				}
				refused = true
				return http.StatusServiceUnavailable
			},
			func(r *result) bool { return r.again > 0 && r.tally.Doubled == r.again && len(r.faults(false)) == 0 },
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt, s := bench(t, c.product)
			if c.impatient {
				tt.opts.patience = 100 * time.Millisecond
			}
			if r := tt.underLoad(t.Context(), &s); !c.holds(r) {
				t.Errorf("%v, refused to the end %d, broken %d, faults %v", r, r.unsent, len(r.broken), r.faults(false))
			}
		})
	}
}

func TestStepPrintsItsLine(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	tt, well := bench(t, deliver("ok", 1))
	tt.out = &out
	fails := step{name: "fails", do: func(ctx context.Context, t *test) error {
		return errors.Join(well.do(ctx, t), errors.New("no container"))
	}}
	if tt.step(t.Context(), &fails) || !strings.Contains(out.String(), "FAILED: no container") {
		t.Errorf("a step that fails prints\n%s", out.String())
	}
	out.Reset()
	if !tt.step(t.Context(), &well) || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("a step that succeeds prints\n%s", out.String())
	}
}

func TestHostnames(t *testing.T) {
	t.Parallel()
	all := make([]stack.Container, 2)
	all[0].Config.Hostname, all[1].Config.Hostname = "b", "a"
	if got := strings.Join(hostnames(all), " "); got != "a b" {
		t.Errorf("got %q", got)
	}
}

// TestComposeFile: the steps know the file's services, and its workspace delivers
// what the test sends to the receiver, signed.
func TestComposeFile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Image         string
			ContainerName string `yaml:"container_name"`
			Hostname      string
			Command       []string
			Environment   map[string]string
			Ports         []string
		}
	}
	if err = yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ingest, router, sink, broker, receiver} {
		if _, ok := file.Services[name]; !ok {
			t.Errorf("docker-compose.yml has no service %s", name)
		}
	}
	for _, name := range []string{router, sink} {
		if s := file.Services[name]; s.ContainerName != "" || s.Hostname != "" || len(s.Ports) > 0 {
			t.Errorf("%s has a name or a port of its own, and can't be scaled: %+v", name, s)
		}
	}
	snapshot, err := wsfile.Load("../../scripts/compose/workspace.yaml", wsfile.SystemLookup())
	if err != nil {
		t.Fatal(err)
	}
	source, ok := snapshot.SourceByKey(writeKey)
	if !ok || writeKey != workspace.ExampleWriteKey {
		t.Fatalf("the workspace has no source with the key %s", writeKey)
	}
	for _, d := range snapshot.Listeners(source.ID) {
		if secret := file.Services[receiver].Environment["RECEIVER_SECRET"]; secret != d.SharedSecret.Reveal() {
			t.Errorf("the receiver is started with %q, which is not the secret of destination %s", secret, d.ID)
		}
	}
}
