package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
)

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

// TestOnePartitionFails fails a part of a batch: nothing may be claimed, and the
// repetition stores the other part twice, under the same messageIds.
func TestOnePartitionFails(t *testing.T) {
	cluster := testkit.Fake(t)
	cluster.CreateTopics(t, 2, schemas.TopicRawEvents)
	s := start(t, cluster)
	cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: schemas.TopicRawEvents, Partitions: []int32{0}, Err: kerr.TopicAuthorizationFailed})
	got := s.post(t, "/v1/batch", identities(20))
	if got.status != http.StatusServiceUnavailable {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if got := s.post(t, "/v1/batch", identities(20)); got.body != success {
		t.Errorf("the repetition: got %d %s", got.status, got.body)
	}
	// Java's partitioner decides which part that was.
	want := make(map[string]int)
	total := 20
	for i := range 20 {
		key := fmt.Sprintf("user-%d", i)
		want[key] = 1
		if kgo.StickyKeyPartitioner(nil).ForTopic("").Partition(&kgo.Record{Key: []byte(key)}, 2) == 1 {
			want[key]++
			total++
		}
	}
	copies := make(map[string]int)
	for _, r := range cluster.ReadAll(t, schemas.TopicRawEvents, total) {
		copies[string(r.Key)]++
	}
	if diff := cmp.Diff(want, copies); diff != "" || total == 20 || total == 40 {
		t.Errorf("copies stored, %d in all (-want +got):\n%s", total, diff)
	}
}

// TestAnAcknowledgementThatIsLost has the broker store the records and say that
// it timed out: the client repeats them under their sequence numbers, and they
// are stored once.
func TestAnAcknowledgementThatIsLost(t *testing.T) {
	s := start(t, testkit.Fake(t))
	fault := s.cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.RequestTimedOut, Count: 2})
	if got := s.post(t, "/v1/batch", identities(5)); got.body != success {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if fault.Hits() != 2 {
		t.Errorf("%d faults were injected, want 2", fault.Hits())
	}
	s.stored(t, 5)
}

func TestAClientThatHangsUpHasSentItsCall(t *testing.T) {
	s := start(t, testkit.Fake(t))
	held, release := hold(s.cluster.Fake)
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

// TestNoRoom fills the room with one request that waits; the next one is
// refused at once and whole, although its first records would fit.
func TestNoRoom(t *testing.T) {
	for name, limit := range map[string]func(*room){
		"records": func(r *room) { r.records = 3 },
		"bytes":   func(r *room) { r.bytes = 700 },
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, testkit.Fake(t))
			limit(&s.producer.room)
			records, bytes := s.producer.room.left()
			held, release := hold(s.cluster.Fake)
			first := make(chan answer)
			go func() { first <- s.post(t, "/v1/batch", identities(2)) }()
			<-held
			if got := s.post(t, "/v1/batch", identities(2)); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "1" {
				t.Errorf("while there is no room: got %d %s", got.status, got.body)
			}
			release()
			if got := <-first; got.body != success {
				t.Errorf("who had room: got %d %s", got.status, got.body)
			}
			s.stored(t, 2)
			if got := s.post(t, "/v1/batch", identities(2)); got.body != success {
				t.Errorf("when there is room again: got %d %s", got.status, got.body)
			}
			if r, b := s.producer.room.left(); r != records || b != bytes {
				t.Errorf("%d records and %d bytes are left of a room of %d and %d", r, b, records, bytes)
			}
		})
	}
}

// TestATopicThatIsDeletedIsMadeAnew has an operator delete raw-events.
func TestATopicThatIsDeletedIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t)
		s := virtual(t, cluster.Options())
		if w := s.call(); w.Code != http.StatusOK {
			t.Fatalf("got %d %s", w.Code, w.Body)
		}
		request := kmsg.NewPtrDeleteTopicsRequest()
		request.TopicNames = []string{schemas.TopicRawEvents}
		topic := kmsg.NewDeleteTopicsRequestTopic()
		topic.Topic = kmsg.StringPtr(schemas.TopicRawEvents)
		request.Topics = append(request.Topics, topic)
		if _, err := request.RequestWith(t.Context(), s.producer.client); err != nil {
			t.Fatal(err)
		}
		wantUnavailable(t, s.call())
		time.Sleep(time.Minute)
		if w := s.call(); w.Code != http.StatusOK {
			t.Errorf("after a minute: got %d %s\n%s", w.Code, w.Body, s.log)
		}
	})
}

// TestWaitEndsOnce walks the orders in which outcomes may come.
func TestWaitEndsOnce(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	for name, c := range map[string]struct {
		outcomes []error
		known    int // outcomes until the request's is known
		want     error
	}{
		"all stored":       {[]error{nil, nil, nil}, 3, nil},
		"first fails":      {[]error{first, nil, nil}, 1, first},
		"last fails":       {[]error{nil, nil, first}, 3, first},
		"all fail":         {[]error{first, second, second}, 1, first},
		"one in the midst": {[]error{nil, first, second}, 2, first},
	} {
		p := &producer{}
		w := &wait{producer: p, records: 3, bytes: 9, left: 3, done: make(chan struct{})}
		for i, outcome := range c.outcomes {
			w.promise(nil, outcome)
			if got := isClosed(w.done); got != (i+1 >= c.known) {
				t.Errorf("%s: known is %v after %d outcomes", name, got, i+1)
			}
			if got := p.room.records == 3; got != (i == 2) {
				t.Errorf("%s: room given back is %v after %d outcomes", name, got, i+1)
			}
		}
		if err := w.until(time.Hour, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
