//go:build go1.26

package analyticstest_test

import (
	"errors"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/anabranch/anabranch/analytics"
	"github.com/anabranch/anabranch/analytics/analyticstest"
)

// shop is a program that is tested.
type shop struct{ events *analytics.Client }

func (s *shop) order(user string, total int) error {
	return s.events.Track(&analytics.Track{UserId: user, Event: "Order Completed", Properties: map[string]any{"total": total}})
}

func TestServer(t *testing.T) {
	server := analyticstest.NewServer(t)
	client, err := analytics.NewClient("wk", analytics.WithEndpoint(server.URL), analytics.WithFlushAt(1))
	if err != nil {
		t.Fatal(err)
	}
	s := shop{client}
	server.Fail(http.StatusServiceUnavailable)
	if err := s.order("u1", 10); err != nil {
		t.Fatal(err)
	}
	for client.Stats().Retries == 0 {
		runtime.Gosched()
	}
	if got := server.Messages(); len(got) != 0 {
		t.Errorf("%v was kept of a request that failed", got)
	}
	server.Fail(0)
	for i := range 100 {
		if err := s.order("u1", i); err != nil {
			t.Fatal(err)
		}
	}
	got := server.Wait(101)
	if m := got[0]; m.Type != "track" || m.UserID != "u1" || m.Event != "Order Completed" || m.Properties["total"] != 10.0 || len(m.JSON) == 0 || m.MessageID == "" {
		t.Errorf("%+v", m)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

func TestRecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder := analyticstest.NewRecorder(t)
		s := shop{recorder.Client}
		for i := range 3 {
			if err := s.order("u1", i); err != nil {
				t.Fatal(err)
			}
		}
		if got := recorder.Messages(); len(got) != 3 || got[2].Properties["total"] != 2.0 {
			t.Errorf("%+v", got)
		}
		recorder.Fail(http.StatusUnauthorized)
		_ = s.order("u1", 4)
		if got := recorder.Messages(); len(got) != 3 {
			t.Errorf("%+v", got)
		}
		if s := recorder.Client.Stats(); s.Accepted != 4 {
			t.Errorf("%+v", s)
		}
	})
}

// A server that fails as long as the test likes keeps the recorder's options.
func TestRecorderOptions(t *testing.T) {
	outcomes := make(chan analytics.Outcome, 1)
	recorder := analyticstest.NewRecorder(t, analytics.WithCallback(func(o analytics.Outcome) { outcomes <- o }))
	recorder.Fail(http.StatusUnauthorized)
	_ = (&shop{recorder.Client}).order("u1", 1)
	var refused *analytics.RefusedError
	if o := <-outcomes; !errors.As(o.Err, &refused) || refused.Status != http.StatusUnauthorized {
		t.Errorf("%+v", o)
	}
}

func TestDiscard(t *testing.T) {
	client := analyticstest.Discard(t)
	if err := (&shop{client}).order("u1", 1); err != nil {
		t.Error(err)
	}
	if err := (&shop{client}).order("", 1); err == nil {
		t.Error("a message of nobody was taken")
	}
	if err := client.Flush(t.Context()); err != nil || client.Stats().Sent != 1 {
		t.Errorf("%v, %+v", err, client.Stats())
	}
}
