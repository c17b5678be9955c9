package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

const oneCall = `{"userId":"u","messageId":"m"}`

// virtualStage returns a stage in a synctest bubble, with its store watched but
// without its server: requests are given to the handler.
func virtualStage(t *testing.T, options []kgo.Opt) *stage {
	t.Helper()
	s := newStage(t, options)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.store.Watch(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
		s.store.Close(context.WithoutCancel(ctx))
	})
	for s.Ready() != nil {
		virtual.Sleep(time.Millisecond)
	}
	return s
}

// call gives one call to the handler.
func (s *stage) call() *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/v1/identify", strings.NewReader(oneCall))
	r.SetBasicAuth(goodKey, "")
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

func wantUnavailable(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	const body = `{"success":false,"code":"unavailable","message":"the request was not stored: send it again","error":"the request was not stored: send it again"}`
	if w.Code != http.StatusServiceUnavailable || w.Body.String() != body || w.Header().Get("Retry-After") != "1" {
		t.Errorf("got %d %s, Retry-After %q", w.Code, w.Body, w.Header().Get("Retry-After"))
	}
}

func TestAnswerComesAfterTheAcknowledgement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t)
		s := virtualStage(t, cluster.Options())
		_, release := testkit.HoldProduce(cluster.Fake)
		var answered atomic.Bool
		done := make(chan *httptest.ResponseRecorder)
		go func() {
			w := s.call()
			answered.Store(true)
			done <- w
		}()
		virtual.Sleep(5 * time.Second)
		if answered.Load() {
			t.Error("answered before the broker has stored the call")
		}
		release()
		if w := <-done; w.Code != http.StatusOK {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
}

// TestWhileNoBrokerAnswers has a request refused before its body is read.
func TestWhileNoBrokerAnswers(t *testing.T) {
	s := newStage(t, testkit.Fake(t).Options()) // not run: no broker has answered yet
	r := httptest.NewRequest(http.MethodPost, "/v1/identify", iotest.ErrReader(errors.New("was read")))
	r.SetBasicAuth(goodKey, "")
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	wantUnavailable(t, w)
}

// TestBrokerThatGoes stops the broker while a request waits, and sends another
// one.
func TestBrokerThatGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t)
		s := virtualStage(t, cluster.Options())
		cluster.Fake.Close()
		for _, limit := range []time.Duration{2 * time.Second, 0} {
			began := time.Now()
			wantUnavailable(t, s.call())
			if took := time.Since(began); took > limit {
				t.Errorf("answered after %v, want at most %v", took, limit)
			}
		}
		if s.Ready() == nil {
			t.Error("ready although no broker answers")
		}
	})
}

// TestWhileTheBrokerIsFull has calls wait for a router that does not keep up: they
// are refused before their body is read, and nobody is sent elsewhere.
func TestWhileTheBrokerIsFull(t *testing.T) {
	s := start(t, testkit.Fake(t))
	full := errors.New("9 bytes wait for the router")
	s.full.Store(&full)
	r := httptest.NewRequest(http.MethodPost, "/v1/identify", iotest.ErrReader(errors.New("was read")))
	r.SetBasicAuth(goodKey, "")
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	wantUnavailable(t, w)
	if !strings.Contains(s.log.String(), full.Error()) {
		t.Errorf("the log does not say why:\n%s", s.log)
	}
	if err := s.Ready(); err != nil {
		t.Errorf("not ready: %v", err)
	}
	s.full.Store(nil)
	if w := s.call(); w.Code != http.StatusOK {
		t.Errorf("with room again the answer is %d %s", w.Code, w.Body)
	}
}

// identities is a batch with one call of each of n users.
func identities(n int) string {
	calls := make([]string, n)
	for i := range calls {
		calls[i] = fmt.Sprintf(`{"type":"identify","userId":"user-%d","messageId":"%d"}`, i, i)
	}
	return `{"batch":[` + strings.Join(calls, ",") + `]}`
}

func TestARefusedWriteIsUnavailable(t *testing.T) {
	s := start(t, testkit.Fake(t))
	s.cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.TopicAuthorizationFailed})
	if got := s.post(t, "/v1/batch", identities(3)); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "1" {
		t.Errorf("got %d %s", got.status, got.body)
	}
	s.stored(t, 0)
	if got := s.post(t, "/v1/batch", identities(3)); got.body != success {
		t.Errorf("the repetition: got %d %s", got.status, got.body)
	}
	s.stored(t, 3)
}

func TestAClientThatHangsUpHasSentItsCall(t *testing.T) {
	s := start(t, testkit.Fake(t))
	held, release := testkit.HoldProduce(s.cluster.Fake)
	ctx, hangUp := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.Addr()+"/v1/identify", strings.NewReader(oneCall))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(goodKey, "")
	done := make(chan error, 1)
	go func() {
		_, err := s.do(r)
		done <- err
	}()
	<-held
	hangUp()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the client got %v", err)
	}
	release()
	s.stored(t, 1)
	testkit.Until(t, func() bool { return s.value(t, "anabranch_ingest_events_total", "accepted") == 1 }, "the call to be counted")
}
