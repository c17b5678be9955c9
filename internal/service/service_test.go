package service_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/internal/service"
)

func TestReadinessNamesEachServiceThatIsNotReady(t *testing.T) {
	seen := &journal{}
	router := newLate("router", seen, "no partitions")
	sink := newLate("sink", seen, "topics unknown")
	plain := &part{name: "admin", seen: seen}
	services := []service.Service{plain, router, sink}

	if got, want := service.Readiness(services...).Error(), "router: no partitions\nsink: topics unknown"; got != want {
		t.Errorf("Readiness = %q, want %q", got, want)
	}
	router.missing.Store(nil)
	if got, want := service.Readiness(services...).Error(), "sink: topics unknown"; got != want {
		t.Errorf("Readiness = %q, want %q", got, want)
	}
	sink.missing.Store(nil)
	if err := service.Readiness(services...); err != nil {
		t.Errorf("Readiness = %v, want nil", err)
	}
}

func TestWaitAsksAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := service.Wait(ctx, func() error { return nil }); err != nil {
		t.Errorf("Wait = %v, want nil: what is there needs no waiting, even on an ended context", err)
	}
}

func TestWaitReturnsSoonAfterTheConditionHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := service.Wait(t.Context(), func() error {
			if time.Since(began) < time.Second {
				return errors.New("too early")
			}
			return nil
		})
		if took := time.Since(began); err != nil || took > 1010*time.Millisecond {
			t.Errorf("Wait = %v after %v, want nil within 10 ms of the condition", err, took)
		}
	})
}

func TestWaitTellsWhatWasMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		missing := errors.New("no broker")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := service.Wait(ctx, func() error { return missing })
		if !errors.Is(err, missing) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait = %v, want both the end of the context and %v", err, missing)
		}
	})
}
