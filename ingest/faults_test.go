package ingest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
)

const oneCall = `{"userId":"u","messageId":"m"}`

// hold keeps the next produce request at the broker until release is called;
// held is closed when it is there.
func hold(c *kfake.Cluster) (held chan struct{}, release func()) {
	held, open := make(chan struct{}), make(chan struct{})
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.DropControl()
		close(held)
		c.SleepControl(func() { <-open })
		return nil, nil, false
	})
	return held, func() { close(open) }
}

// swallow makes the broker leave requests of the given key without an answer,
// all of them for -1, until the result is called.
func swallow(c *kfake.Cluster, key int16) (restore func()) {
	var over atomic.Bool
	c.ControlKey(key, func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		return nil, nil, !over.Load()
	})
	return func() { over.Store(true) }
}

// virtual returns a stage in a synctest bubble, with its prober running but
// without its server: requests are given to the handler.
func virtual(t *testing.T, options []kgo.Opt) *stage {
	t.Helper()
	s := newStage(t, options)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.prober.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
		s.producer.client.Close()
	})
	for s.Ready() != nil {
		time.Sleep(time.Millisecond)
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
		s := virtual(t, cluster.Options())
		_, release := hold(cluster.Fake)
		var answered atomic.Bool
		done := make(chan *httptest.ResponseRecorder)
		go func() {
			w := s.call()
			answered.Store(true)
			done <- w
		}()
		time.Sleep(5 * time.Second)
		if answered.Load() {
			t.Error("answered before the broker has stored the call")
		}
		release()
		if w := <-done; w.Code != http.StatusOK {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
}

// TestNoAcknowledgementInTime lets one produce request vanish while the broker
// answers all others: nothing is known of its records.
func TestNoAcknowledgementInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t)
		s := virtual(t, cluster.Options())
		restore := swallow(cluster.Fake, int16(kmsg.Produce))
		began := time.Now()
		wantUnavailable(t, s.call())
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("answered after %v, want 10s", took)
		}
		if err := s.Ready(); err != nil {
			t.Errorf("the brokers answer, but: %v", err)
		}
		restore()
		// The client gives the connection up after another ten seconds and sends
		// the record again, under the same sequence number.
		time.Sleep(20 * time.Second)
		if w := s.call(); w.Code != http.StatusOK {
			t.Errorf("after recovery: got %d %s\n%s", w.Code, w.Body, s.log)
		}
	})
}

// TestBrokerThatHangs makes the broker deaf while a request waits.
func TestBrokerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t)
		s := virtual(t, cluster.Options())
		restore := swallow(cluster.Fake, -1)
		began := time.Now()
		wantUnavailable(t, s.call())
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("who waits was answered after %v", took)
		}
		if s.Ready() == nil {
			t.Error("ready although no broker answers")
		}
		began = time.Now()
		wantUnavailable(t, s.call())
		if took := time.Since(began); took != 0 {
			t.Errorf("who comes later was answered after %v", took)
		}
		restore()
		time.Sleep(30 * time.Second)
		if err := s.Ready(); err != nil {
			t.Errorf("after recovery: %v", err)
		}
		if w := s.call(); w.Code != http.StatusOK {
			t.Errorf("after recovery: got %d %s\n%s", w.Code, w.Body, s.log)
		}
	})
}

// TestBrokerThatGoesAndComesBack stops the broker and starts another one at its
// address.
func TestBrokerThatGoesAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network kfake.VirtualNetwork
		broker := func() *kfake.Cluster {
			c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(9092), kfake.ListenFn(network.Listen), kfake.SeedTopics(1, schemas.TopicRawEvents))
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		first := broker()
		s := virtual(t, []kgo.Opt{kgo.SeedBrokers(first.ListenAddrs()...), kgo.Dialer(network.DialContext)})
		if w := s.call(); w.Code != http.StatusOK {
			t.Fatalf("got %d %s", w.Code, w.Body)
		}
		first.Close()
		began := time.Now()
		wantUnavailable(t, s.call())
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("answered after %v", took)
		}
		for range 1000 {
			wantUnavailable(t, s.call())
		}
		if left, _ := s.producer.room.left(); left < 20_000-5 {
			t.Errorf("%d records wait for a broker that is gone", 20_000-left)
		}
		second := broker()
		defer second.Close()
		// It has another raw-events, under another id: the records that are left
		// in the client come to know it.
		time.Sleep(30 * time.Second)
		if w := s.call(); w.Code != http.StatusOK {
			t.Errorf("after recovery: got %d %s\n%s", w.Code, w.Body, s.log)
		}
		if left, _ := s.producer.room.left(); left != 20_000 {
			t.Errorf("%d records still wait", 20_000-left)
		}
	})
}
