package store

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

func TestARefusedWriteClaimsNothing(t *testing.T) {
	s := watched(t, testkit.Fake(t))
	s.cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.TopicAuthorizationFailed})
	if err := s.Put(identities(t, 3)); !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Errorf("got %v", err)
	}
	s.stored(t, 0)
	if err := s.Put(identities(t, 3)); err != nil {
		t.Errorf("the repetition: %v", err)
	}
	s.stored(t, 3)
}

// TestBothTopicsAreWaitedFor has one topic refuse its part of a request: nothing
// may be claimed, whichever it is.
func TestBothTopicsAreWaitedFor(t *testing.T) {
	for _, refusing := range []string{schemas.TopicRawEvents, schemas.TopicDeadLetters} {
		t.Run(refusing, func(t *testing.T) {
			s := watched(t, testkit.Brokers(t))
			if err := s.Put(mixed(t)); err != nil {
				t.Fatal(err)
			}
			s.stored(t, 1)
			if dead := s.cluster.ReadAll(t, schemas.TopicDeadLetters, 1); string(dead[0].Key) != "u" {
				t.Errorf("the dead letter has the key %q", dead[0].Key)
			}
			s = watched(t, testkit.Fake(t))
			fault := s.cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: refusing, Err: kerr.TopicAuthorizationFailed})
			if err := s.Put(mixed(t)); !errors.Is(err, kerr.TopicAuthorizationFailed) || fault.Hits() != 1 {
				t.Errorf("got %v after %d faults", err, fault.Hits())
			}
			if err := s.Put(mixed(t)); err != nil {
				t.Errorf("the repetition: %v", err)
			}
		})
	}
}

// TestOnePartitionFails fails a part of a batch: nothing may be claimed, and the
// repetition stores the other part twice, under the same messageIds.
func TestOnePartitionFails(t *testing.T) {
	cluster := testkit.Fake(t)
	cluster.CreateTopics(t, 2, schemas.TopicRawEvents)
	s := watched(t, cluster)
	cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: schemas.TopicRawEvents, Partitions: []int32{0}, Err: kerr.TopicAuthorizationFailed})
	if err := s.Put(identities(t, 20)); !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Errorf("got %v", err)
	}
	if err := s.Put(identities(t, 20)); err != nil {
		t.Errorf("the repetition: %v", err)
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
	for _, r := range s.stored(t, total) {
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
	s := watched(t, testkit.Fake(t))
	fault := s.cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.RequestTimedOut, Count: 2})
	if err := s.Put(identities(t, 5)); err != nil {
		t.Error(err)
	}
	if fault.Hits() != 2 {
		t.Errorf("%d faults were injected, want 2", fault.Hits())
	}
	s.stored(t, 5)
}

// TestNoRoom fills the room with one batch that waits; the next one is refused
// at once and whole, although its first records would fit.
func TestNoRoom(t *testing.T) {
	for name, limit := range map[string]func(*Options){
		"records": func(o *Options) { o.MaxRecords = 3 },
		"bytes":   func(o *Options) { o.MaxBytes = 700 },
	} {
		t.Run(name, func(t *testing.T) {
			s := watched(t, testkit.Fake(t), limit)
			records, bytes := s.room.left()
			held, release := testkit.HoldProduce(s.cluster.Fake)
			batch, first := identities(t, 2), make(chan error)
			go func() { first <- s.Put(batch) }()
			<-held
			if err := s.Put(identities(t, 2)); !errors.Is(err, errNoRoom) {
				t.Errorf("while there is no room: got %v", err)
			}
			release()
			if err := <-first; err != nil {
				t.Errorf("who had room: got %v", err)
			}
			s.stored(t, 2)
			if err := s.Put(identities(t, 2)); err != nil {
				t.Errorf("when there is room again: got %v", err)
			}
			if r, b := s.room.left(); r != records || b != bytes {
				t.Errorf("%d records and %d bytes are left of a room of %d and %d", r, b, records, bytes)
			}
		})
	}
}

// TestKeysDecideThePartition shows that all calls of one user meet, whichever
// request they came in.
func TestKeysDecideThePartition(t *testing.T) {
	cluster := testkit.Brokers(t)
	cluster.CreateTopics(t, 6, schemas.TopicRawEvents)
	s := watched(t, cluster)
	for range 5 {
		if err := s.Put(identities(t, 8)); err != nil {
			t.Fatal(err)
		}
	}
	partitions := make(map[string]map[int32]bool)
	used := make(map[int32]bool)
	for _, r := range s.stored(t, 40) {
		if partitions[string(r.Key)] == nil {
			partitions[string(r.Key)] = make(map[int32]bool)
		}
		partitions[string(r.Key)][r.Partition] = true
		used[r.Partition] = true
	}
	counts := make(map[string]int)
	want := make(map[string]int)
	for i := range 8 {
		key := fmt.Sprintf("user-%d", i)
		counts[key], want[key] = len(partitions[key]), 1
	}
	if diff := cmp.Diff(want, counts); diff != "" || len(used) < 2 {
		t.Errorf("partitions per user (-want +got):\n%s\nof %d partitions", diff, len(used))
	}
}
