package regulation

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestSuppressionOutlivesProcesses stores what two readers, one of which comes
// later, have to agree on.
func TestSuppressionOutlivesProcesses(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	l, first := ledger(c), follow(t, c)
	users := make([]string, MaxSubjects)
	for i := range users {
		users[i] = fmt.Sprintf("user-%d", i)
	}
	store(t, l, first, SuppressOnly, users...)
	store(t, l, first, Unsuppress, users[:10]...)
	for _, g := range []*Register{first, follow(t, c)} {
		if g.Suppressed.Len() != MaxSubjects-10 || g.Suppressed.Has([]byte("user-9")) || !g.Suppressed.Has([]byte("user-10")) {
			t.Errorf("%d users are suppressed", g.Suppressed.Len())
		}
	}
}

// TestARunFromBeginningToEnd shows what each transaction leaves in the topics.
func TestARunFromBeginningToEnd(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	l, g := ledger(c), follow(t, c)
	r := store(t, l, g, SuppressWithDelete, "u0", "u1")
	run := take(t, l, g, r.ID)
	if work := run.Work(); !work.Complete || !slices.Equal(work.Users, []string{"u0", "u1"}) {
		t.Fatalf("work %+v", work)
	}
	next := run.Work().Regulation
	next.Status, next.Notified, next.Sources = Running, 1, []string{"website"}
	if err := run.Advance(t.Context(), next, events(3)); err != nil {
		t.Fatal(err)
	}
	c.ReadAll(t, schemas.TopicRawEvents, 3)
	if err := run.Advance(t.Context(), run.Work().End(Finished, "", noon), events(2)); err != nil {
		t.Fatal(err)
	}
	c.ReadAll(t, schemas.TopicRawEvents, 5)
	// Two suppressions, subjects, regulation; the run; running; finished with two removals.
	all := c.ReadAll(t, schemas.TopicRegulations, 4+1+1+3)
	for _, key := range []string{"regulation-subjects/" + r.ID + "-0", "regulation-run/" + r.ID} {
		if last := lastOf(all, key); last == nil || last.Value != nil {
			t.Errorf("the topic still holds %s", key)
		}
	}
	testkit.Until(t, func() bool { got, _ := g.Get(r.ID); return got.Status == Finished }, "the end to be known")
	if again, err := l.Take(t.Context(), r.ID, g); again != nil || err != nil {
		t.Errorf("a finished regulation was taken: %v, %v", again, err)
	}
}

func lastOf(all []*kgo.Record, key string) *kgo.Record {
	for _, r := range slices.Backward(all) {
		if string(r.Key) == key {
			return r
		}
	}
	return nil
}

// TestTheLastOneThatTookItWrites has a slow process go on after another one has
// taken over: what it was about to write never shows.
func TestTheLastOneThatTookItWrites(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	l, slow, quick := ledger(c), follow(t, c), follow(t, c)
	r := store(t, l, slow, DeleteOnly, "u0", "u1")
	old := take(t, l, slow, r.ID)
	next := old.Work().Regulation
	next.Status, next.Notified = Running, 1
	if err := old.Advance(t.Context(), next, events(1)); err != nil {
		t.Fatal(err)
	}
	taken := take(t, l, quick, r.ID)
	if got := taken.Work().Notified; got != 1 {
		t.Fatalf("the new one begins behind user %d, want 1", got)
	}
	// As if the slow one had not heard of it yet: fencing alone has to do.
	old.token = taken.token
	testkit.Until(t, func() bool { return slow.token(r.ID) == taken.token }, "the slow one to hear of it")
	if err := old.Advance(t.Context(), old.Work().End(Finished, "", noon), events(7)); !errors.Is(err, ErrTakenOver) {
		t.Fatalf("the old one was told: %v", err)
	}
	if err := taken.Advance(t.Context(), taken.Work().End(Finished, "", noon), events(1)); err != nil {
		t.Fatal(err)
	}
	c.ReadAll(t, schemas.TopicRawEvents, 2)
}

// TestHearingOfASuccessorIsEnough: who knows that it lost the regulation does not
// begin a transaction.
func TestHearingOfASuccessorIsEnough(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	l, g := ledger(c), follow(t, c)
	r := store(t, l, g, DeleteOnly, "u0")
	old := take(t, l, g, r.ID)
	taken := take(t, l, g, r.ID)
	if err := old.Advance(t.Context(), old.Work().End(Finished, "", noon), events(1)); !errors.Is(err, ErrTakenOver) {
		t.Errorf("the old one was told: %v", err)
	}
	if err := taken.Advance(t.Context(), taken.Work().End(Finished, "", noon), nil); err != nil {
		t.Error(err)
	}
}

// TestATransactionThatNobodyEnded is what a kill leaves behind: its records are
// never seen, and the successor does not wait for its time to run out.
func TestATransactionThatNobodyEnded(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	l, g := ledger(c), follow(t, c)
	r := store(t, l, g, DeleteOnly, "u0")
	dead := take(t, l, g, r.ID)
	if err := dead.writer.Client().BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	finished, err := newRecord(kindRegulation, r.ID, regulationRecord{Type: DeleteOnly, Status: Finished, CreatedAt: noon, Subjects: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.writer.Client().ProduceSync(t.Context(), append(events(5), finished)...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	run := take(t, l, g, r.ID)
	if took := time.Since(began); took > abandonAfter {
		t.Errorf("it took %s", took)
	}
	if run.Work().Status != Initialized {
		t.Errorf("the state is %s", run.Work().Status)
	}
	c.ReadAll(t, schemas.TopicRawEvents, 0)
}

// TestCreationIsAllOrNothing has the broker refuse the regulation's own record.
func TestCreationIsAllOrNothing(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	topics(t, c)
	l, g := ledger(c), follow(t, c)
	c.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.EndTxn}, Err: kerr.InvalidTxnState, Count: 1})
	r := New(SuppressWithDelete, 1, noon)
	if err := l.Create(t.Context(), r, []string{"u1"}); err == nil {
		t.Fatal("stored although the commit was refused")
	}
	store(t, l, g, SuppressOnly, "u2") // ends behind what the first has left
	if _, ok := g.Get(r.ID); ok || g.Suppressed.Has([]byte("u1")) {
		t.Error("half of it is in force")
	}
}

// TestTooLarge: a record that a topic refuses for its size does not spoil the run.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	topics(t, c)
	l, g := ledger(c), follow(t, c)
	r := store(t, l, g, DeleteOnly, "u0")
	run := take(t, l, g, r.ID)
	huge := &kgo.Record{Topic: schemas.TopicRawEvents, Value: []byte(strings.Repeat("x", 2<<20))}
	if err := run.Advance(t.Context(), run.Work().End(Finished, "", noon), []*kgo.Record{huge}); !kafka.TooLarge(err) {
		t.Fatalf("got %v", err)
	}
	if err := run.Advance(t.Context(), run.Work().End(Failed, "too large", noon), nil); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, func() bool { got, _ := g.Get(r.ID); return got.Status == Failed }, "the failure to be known")
	c.ReadAll(t, schemas.TopicRawEvents, 0)
}

// TestRegulationsDoNotFenceOneAnother creates and finishes several at the same
// time, as processes do.
func TestRegulationsDoNotFenceOneAnother(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	l, g := ledger(c), follow(t, c)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			r := New(DeleteOnly, 1, noon)
			if err := l.Create(t.Context(), r, []string{strconv.Itoa(i)}); err != nil {
				t.Error(err)
				return
			}
			run, err := l.Take(t.Context(), r.ID, g)
			for err == nil && run == nil { // the register does not have it yet
				run, err = l.Take(t.Context(), r.ID, g)
			}
			if err != nil {
				t.Error(err)
				return
			}
			defer run.Close()
			if err := run.Advance(t.Context(), run.Work().End(Finished, "", noon), events(1)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	c.ReadAll(t, schemas.TopicRawEvents, 4)
}
