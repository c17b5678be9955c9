package service_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/test/virtual"
)

// running is a call of Run on a goroutine of its own.
type running struct {
	cancel context.CancelFunc
	result chan error
}

func start(t *testing.T, log *slog.Logger, tiers ...[]service.Service) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{cancel: cancel, result: make(chan error, 1)}
	go func() { r.result <- service.Run(ctx, log, tiers...) }()
	return r
}

func TestRunStartsAndStopsTierByTier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &journal{}
		broker := newLate("broker", seen, "loading")
		router := &part{name: "router", seen: seen, stop: 3 * time.Second}
		sink := &part{name: "sink", seen: seen, stop: 7 * time.Second}

		r := start(t, quiet(), []service.Service{broker}, []service.Service{router, sink})
		synctest.Wait()
		if diff := cmp.Diff([]string{"start broker"}, seen.all()); diff != "" {
			t.Fatalf("before the broker is ready (-want +got):\n%s", diff)
		}
		broker.missing.Store(nil)
		virtual.Sleep(20 * time.Millisecond) // virtual: one poll
		synctest.Wait()
		if got := len(seen.all()); got != 3 {
			t.Fatalf("once the broker is ready: %q, want all three started", seen.all())
		}

		began := time.Now()
		r.cancel()
		if err := <-r.result; err != nil {
			t.Errorf("Run = %v, want nil after an orderly stop", err)
		}
		if took := time.Since(began); took != 7*time.Second {
			t.Errorf("stop took %v, want the 7 s of the slowest: members of a tier stop together", took)
		}
		want := []string{"end router", "end sink", "end broker"}
		if diff := cmp.Diff(want, seen.all()[3:]); diff != "" {
			t.Errorf("order of the stop (-want +got):\n%s", diff)
		}
	})
}

func TestRunReturnsFirstFailureAndStopsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &journal{}
		cause := errors.New("fenced by another instance")
		broker := &part{name: "broker", seen: seen}
		router := &part{name: "router", seen: seen, work: func(context.Context) error {
			<-time.After(time.Minute)
			return cause
		}}
		sink := &part{name: "sink", seen: seen, work: func(ctx context.Context) error {
			<-ctx.Done()
			return errors.New("commit failed too")
		}}
		logged := &journal{}
		err := service.Run(t.Context(), logged.logger(slog.LevelError), []service.Service{broker}, []service.Service{router, sink})
		if !errors.Is(err, cause) {
			t.Errorf("Run = %v, want it to wrap %v", err, cause)
		}
		if got, want := fmt.Sprint(err), "router: fenced by another instance"; got != want {
			t.Errorf("Run = %q, want %q", got, want)
		}
		if got := seen.all()[len(seen.all())-1]; got != "end broker" {
			t.Errorf("last event = %q, want the broker to end last", got)
		}
		if lines := strings.Join(logged.all(), ""); !strings.Contains(lines, "commit failed too") {
			t.Errorf("log = %q, want the later failure in it", lines)
		}
	})
}

func TestRunJudgesTheEndOfAService(t *testing.T) {
	tests := map[string]struct {
		work func(ctx context.Context) error
		want error
	}{
		"nil before it was asked": {
			work: func(context.Context) error { return nil },
			want: service.ErrEnded,
		},
		"cancelled by a context of its own": {
			work: func(context.Context) error { return context.Canceled },
			want: context.Canceled,
		},
		"interrupted while connecting": {
			work: func(ctx context.Context) error {
				<-ctx.Done()
				return fmt.Errorf("dial: %w", ctx.Err())
			},
		},
		"fails to stop": {
			work: func(ctx context.Context) error {
				<-ctx.Done()
				return context.DeadlineExceeded
			},
			want: context.DeadlineExceeded,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				p := &part{name: "stage", seen: &journal{}, work: test.work}
				err := service.Run(ctx, quiet(), []service.Service{p})
				if !errors.Is(err, test.want) {
					t.Errorf("Run = %v, want %v", err, test.want)
				}
			})
		})
	}
}

func TestRunStopsWhileStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &journal{}
		broker := newLate("broker", seen, "brokers unreachable")
		stage := &part{name: "stage", seen: seen}
		r := start(t, quiet(), []service.Service{broker}, []service.Service{stage})
		virtual.Sleep(time.Hour)
		r.cancel()
		if err := <-r.result; err != nil {
			t.Errorf("Run = %v, want nil", err)
		}
		if diff := cmp.Diff([]string{"start broker", "end broker"}, seen.all()); diff != "" {
			t.Errorf("a stage whose broker never came up must not start (-want +got):\n%s", diff)
		}
	})
}

func TestRunFailsWhileStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &journal{}
		cause := errors.New("port taken")
		broken := &part{name: "broken", seen: seen, work: func(context.Context) error { return cause }}
		waiting := newLate("waiting", seen, "never ready")
		err := service.Run(t.Context(), quiet(), []service.Service{broken, waiting}, []service.Service{&part{name: "stage", seen: seen}})
		if !errors.Is(err, cause) {
			t.Errorf("Run = %v, want %v", err, cause)
		}
		for _, line := range seen.all() {
			if strings.HasSuffix(line, "stage") {
				t.Errorf("%q: a tier started although the one before it had failed", line)
			}
		}
	})
}

func TestRunSaysWhatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logged := &journal{}
		r := start(t, logged.logger(slog.LevelWarn), []service.Service{newLate("router", &journal{}, "no partitions yet")})
		virtual.Sleep(16 * time.Second)
		r.cancel()
		<-r.result
		lines := logged.all()
		if len(lines) != 3 {
			t.Fatalf("%d lines in 16 s, want one each 5 s:\n%s", len(lines), strings.Join(lines, ""))
		}
		if !strings.Contains(lines[0], "router: no partitions yet") {
			t.Errorf("line = %q, want the service and what it misses", lines[0])
		}
	})
}

func TestRunGivesValuesOfItsContext(t *testing.T) {
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
	var got any
	p := &part{name: "stage", seen: &journal{}, work: func(inner context.Context) error {
		got = inner.Value(key{})
		cancel()
		<-inner.Done()
		return nil
	}}
	if err := service.Run(ctx, quiet(), []service.Service{p}); err != nil {
		t.Fatal(err)
	}
	if got != "value" {
		t.Errorf("value in the service's context = %v, want it taken over", got)
	}
}
