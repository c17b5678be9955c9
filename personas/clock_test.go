package personas

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/message"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestATickThatArrivesLate: it was sent at once, and a silent network brought it to the broker
// much later. Calls that were stored meanwhile are not behind it.
func TestATickThatArrivesLate(t *testing.T) {
	t.Parallel()
	looked := time.UnixMilli(1_000_000)
	const late = 3_000
	for name, tt := range map[string]struct {
		tick message.Message
		want int64
	}{
		"who knows the brokers' time":          {message.Message{At: 999_990, Late: 2}, 999_990},
		"whose clock of the brokers is ahead":  {message.Message{At: 1_500_000, Late: 2}, 1_000_000 + late - 2},
		"who stood still behind the look, too": {message.Message{At: 1_500_000, Late: late + 40}, 1_000_000 - 40},
	} {
		if got := timeOf(&tt.tick, looked.UnixMilli()+late, looked.Add(time.Minute)); got != tt.want {
			t.Errorf("%s: it was %d, want %d", name, got, tt.want)
		}
	}
}

// TestATickThatIsPutOff comes when it was said last, and not at all for a partition that has
// gone meanwhile.
func TestATickThatIsPutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const after = 20 * time.Millisecond
		c := newClock(Settings{}, func() []int32 { return []int32{0, 1} })
		if at := c.next(); !at.IsZero() {
			t.Errorf("at %s a tick is due that nobody asked for", at)
		}
		for range 10 {
			c.again(0, after)
			virtual.Sleep(after / 2)
			if nums := c.taken(time.Now()); len(nums) > 0 {
				t.Errorf("partitions %v tick, though they were put off", nums)
			}
		}
		c.again(1, 0)
		c.again(2, 0) // of another process
		if nums := c.taken(time.Now()); !slices.Equal(nums, []int32{1}) {
			t.Errorf("partitions %v tick, want the one that is due at once", nums)
		}
		if wait := time.Until(c.next()); wait != after/2 {
			t.Errorf("the next tick is due in %s, want %s", wait, after/2)
		}
		virtual.Sleep(after / 2)
		if nums := c.taken(time.Now()); !slices.Equal(nums, []int32{0}) {
			t.Errorf("partitions %v tick, want the one that was put off", nums)
		}
	})
}

// TestTheFirstTickArrivesLate, of a process whose network falls silent: calls that were stored
// behind its look at the log, and that an open transaction holds back, keep their users where
// they are.
func TestTheFirstTickArrivesLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const users = 10
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Audiences: []engine.Audience{audience("active", "Visit", 1, time.Minute)}})
		visit := func(kind string) {
			for i := range users {
				b.send(t, b.track(fmt.Sprint(kind, i), "Visit", time.Now()))
			}
		}
		stop := start(t, b.stage(t, b.virtually))
		virtual.Sleep(5 * time.Second)
		visit("leaves")
		virtual.Sleep(2 * time.Second)
		visit("stays")
		virtual.Sleep(5 * time.Second)
		stop()
		looked, mend := b.holdTicks(t)
		start(t, b.stage(t, b.virtually))
		<-looked // since somebody is to leave
		end := b.holdBack(t)
		visit("stays") // a second before their time is over
		virtual.Sleep(4 * time.Second)
		mend()
		virtual.Sleep(2 * time.Second)
		end()
		virtual.Sleep(5 * time.Second)
		want := make(map[string][]string)
		for i := range users {
			want[fmt.Sprint("leaves", i)], want[fmt.Sprint("stays", i)] = []string{"true", "false"}, []string{"true"}
		}
		if diff := cmp.Diff(want, values(b.heard(t, 3*users), "active")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestAStopWhileATickIsUnderWay, which no broker answers any more.
func TestAStopWhileATickIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Audiences: []engine.Audience{audience("active", "Visit", 1, time.Minute)}})
		stop := start(t, b.stage(t, b.virtually))
		virtual.Sleep(5 * time.Second)
		looked, mend := b.holdTicks(t)
		b.send(t, b.track("u", "Visit", time.Now()))
		<-looked
		begun := time.Now()
		stop()
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("it took %s", took)
		}
		mend()
	})
}

// holdTicks holds up the ticks that are sent from now on, until release is called. They have
// the time at which the broker takes them, as on brokers that keep time themselves; looked is
// closed when the first is under way.
func (b *bench) holdTicks(t *testing.T) (looked <-chan struct{}, release func()) {
	t.Helper()
	known, err := kadm.NewClient(b.client).ListTopics(t.Context(), schemas.TopicPersonasInternal)
	if err != nil {
		t.Fatal(err)
	}
	internal := [16]byte(known[schemas.TopicPersonasInternal].ID)
	arrived, open := make(chan struct{}), make(chan struct{})
	first := true
	b.Fake.ControlKey(kmsg.Produce.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		b.Fake.KeepControl()
		produce := req.(*kmsg.ProduceRequest)
		if produce.TransactionID != nil || produce.Topics[0].TopicID != internal {
			return nil, nil, false
		}
		if first {
			first = false
			close(arrived)
		}
		b.Fake.SleepControl(func() { <-open })
		restamp(t, produce)
		return nil, nil, false
	})
	return arrived, func() { close(open) }
}

// restamp has records be of now, each of which is alone in its batch.
func restamp(t *testing.T, req *kmsg.ProduceRequest) {
	t.Helper()
	const sum, summed = 17, 21 // where the checksum of a batch stands, and what it is of
	for _, topic := range req.Topics {
		for i := range topic.Partitions {
			var batch kmsg.RecordBatch
			if err := batch.ReadFrom(topic.Partitions[i].Records); err != nil || batch.NumRecords != 1 {
				t.Errorf("a batch of %d records: %v", batch.NumRecords, err)
			}
			batch.FirstTimestamp = time.Now().UnixMilli()
			batch.MaxTimestamp = batch.FirstTimestamp
			records := batch.AppendTo(nil)
			binary.BigEndian.PutUint32(records[sum:], crc32.Checksum(records[summed:], crc32.MakeTable(crc32.Castagnoli)))
			topic.Partitions[i].Records = records
		}
	}
}

// holdBack has nobody see what is written to raw-events until end is called: there is a
// transaction that has not ended.
func (b *bench) holdBack(t *testing.T) (end func()) {
	t.Helper()
	writer := b.Client(t, manual(), kgo.TransactionalID("another"))
	if err := writer.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	for num := range int32(partitions) {
		if err := writer.ProduceSync(t.Context(), &kgo.Record{Topic: schemas.TopicRawEvents, Partition: num}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if err := writer.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
			t.Error(err)
		}
	}
}

// TestTheTimeOfTheBrokers, whose clocks are an hour ahead: what a partition's clock says it was
// never is later than it was there.
func TestTheTimeOfTheBrokers(t *testing.T) {
	t.Parallel()
	c := newClock(Settings{}, nil)
	now := time.Now()
	theirs := func(at time.Time) int64 { return at.Add(time.Hour).UnixMilli() }
	if got := c.least(1, now); got != 0 {
		t.Errorf("it was %d before anything was heard", got)
	}
	c.heard(1, theirs(now), now.Add(20*time.Millisecond)) // read 20 ms after it was written
	for _, later := range []time.Duration{-time.Second, 0, time.Second, time.Hour} {
		at := now.Add(later)
		if got, want := c.least(1, at), theirs(at)-20; got != want {
			t.Errorf("%s later it was %d, want %d", later, got, want)
		}
	}
	c.heard(1, theirs(now.Add(time.Minute)), now.Add(time.Minute))
	if got, want := c.least(1, now.Add(time.Minute)), theirs(now.Add(time.Minute)); got != want {
		t.Errorf("it was %d, want %d", got, want)
	}
	c.heard(2, theirs(now)-500, now)
	if got, want := c.least(0, now), theirs(now)-500; got != want {
		t.Errorf("it was %d, want %d: the least of others", got, want)
	}
}

// TestWhenACallWasTakenIn is what its record says, unless no clock of a broker can say that.
func TestWhenACallWasTakenIn(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_000_000_000)
	for in, want := range map[time.Duration]time.Duration{
		-time.Hour: -time.Hour, 0: 0, 30 * time.Millisecond: 30 * time.Millisecond, ahead: ahead, ahead + 1: 0, time.Hour: 0,
	} {
		if got := receipt(&kgo.Record{Timestamp: now.Add(in)}, now); !got.Equal(now.Add(want)) {
			t.Errorf("a record of %s was taken in %s from now, want %s", in, got.Sub(now), want)
		}
	}
}
