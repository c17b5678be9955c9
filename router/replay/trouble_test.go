package replay

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestAnEventThatIsTooLarge is left out, and what is written with it is not.
func TestAnEventThatIsTooLarge(t *testing.T) {
	t.Parallel()
	b := newBench(t, "crm")
	b.fill(t, 50)
	large := event("u1", 1000)
	large.Value = []byte(`{"type":"track","userId":"u1","pad":"` + noise(60_000) + `"}`)
	b.add(t, large)
	b.fillFrom(t, 2000, 50)
	if err := b.topics.Ensure(t.Context(), schemas.ReplayTopic("crm")); err != nil {
		t.Fatal(err)
	}
	b.Limit(t, schemas.ReplayTopic("crm"), 20_000)
	r := b.ask(t, nil)
	b.drain(t, "crm")
	testkit.Start(t, b.service(t).Run)
	p := b.over(t, r.ID).Parts["crm"]
	if p.Sent != 100 || p.Left[TooLarge] != 1 {
		t.Errorf("%+v", p)
	}
	b.once(t, "crm", r.ID, 100)
}

// noise is text that can't be compressed to a few bytes.
func noise(n int) string {
	text := make([]byte, n/2)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range text {
		text[i] = byte(rng.Uint32())
	}
	return hex.EncodeToString(text)
}

// TestATopicThatTakesNothing costs the other destinations no more than a moment.
func TestATopicThatTakesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBenchOn(t, testkit.Virtual(t), "crm", "lake")
		b.fill(t, 500)
		r := b.ask(t, func(r *Run) { r.Rate = 100 })
		b.drain(t, "crm", "lake")
		b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: schemas.ReplayTopic("crm"), Err: kerr.TopicAuthorizationFailed, Count: -1})
		b.process(t)
		virtual.Sleep(2 * time.Minute)
		e := b.entry(t, r.ID)
		if p := e.Parts["lake"]; p == nil || p.State != Done || p.Sent != 500 {
			t.Errorf("lake: %+v", p)
		}
		if p := e.Parts["crm"]; p != nil && p.Sent > 0 || !strings.Contains(e.Claim.Trouble["crm"], "accepts no records") {
			t.Errorf("crm: %+v, trouble %v", p, e.Claim.Trouble)
		}
	})
}

// TestATopicThatMayNotBeCreated: people see which, and how to create it, and the run goes on
// once it is there.
func TestATopicThatMayNotBeCreated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBenchOn(t, testkit.Virtual(t), "crm", "lake")
		b.fill(t, 50)
		r := b.ask(t, nil)
		b.drain(t, "crm", "lake")
		forbidden := b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Topic: schemas.ReplayTopic("crm"), Err: kerr.TopicAuthorizationFailed, Count: -1})
		b.process(t)
		virtual.Sleep(time.Minute)
		e := b.entry(t, r.ID)
		if why := e.Claim.Trouble["crm"]; !strings.Contains(why, "kafka-topics.sh --create --topic replay.crm --partitions 2") {
			t.Errorf("trouble %v", e.Claim.Trouble)
		}
		if p := e.Parts["lake"]; p == nil || p.State != Done || p.Sent != 50 {
			t.Errorf("lake: %+v", p)
		}
		forbidden.Remove()
		virtual.Sleep(2 * time.Minute)
		if e := b.entry(t, r.ID); !e.Over() || e.Sent() != 100 {
			t.Errorf("%s, %d sent", e.State(), e.Sent())
		}
	})
}

// TestAUserWhoIsHidden by a key that this process lacks keeps everything from being sent.
func TestAUserWhoIsHidden(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBenchOn(t, testkit.Virtual(t), "crm")
		b.fill(t, 10)
		r := b.ask(t, nil)
		b.drain(t, "crm")
		register := regulation.NewRegister(nil, func(string) {})
		if err := register.Apply([]byte("suppression/00112233."+strings.Repeat("ab", 16)), []byte("{}")); err != nil {
			t.Fatal(err)
		}
		log := new(testkit.Logs)
		s := b.service(t, func(set *Settings) { set.Register, set.Logger = register, log.Logger() })
		testkit.Start(t, s.Run)
		virtual.Sleep(time.Minute)
		if e := b.entry(t, r.ID); e.Sent() > 0 || log.Count("SUPPRESSION_KEY of this process lacks (00112233)") == 0 {
			t.Errorf("%d events were sent; log:\n%s", e.Sent(), log)
		}
	})
}

// TestALogThatWasMadeAnew ends the run: its offsets are those of other events.
func TestALogThatWasMadeAnew(t *testing.T) {
	t.Parallel()
	b := newBench(t, "crm")
	b.fill(t, 10)
	r := b.ask(t, func(r *Run) { r.TopicID = "another" })
	testkit.Start(t, b.service(t).Run)
	e := b.over(t, r.ID)
	if p := e.Parts["crm"]; p.State != Abandoned || p.Sent > 0 || !strings.Contains(p.Note, "made again") {
		t.Errorf("%+v", p)
	}
}

// TestWhatIsDeletedMeanwhile is counted.
func TestWhatIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBench(t, "crm")
	b.fill(t, 300)
	r := b.ask(t, nil)
	before := b.ReadAll(t, schemas.TopicRawEvents, 300)
	gone := 0
	for _, rec := range before {
		if rec.Partition == 0 && rec.Offset < 20 {
			gone++
		}
	}
	b.DeleteBefore(t, schemas.TopicRawEvents, 20)
	b.drain(t, "crm")
	testkit.Start(t, b.service(t).Run)
	if p := b.over(t, r.ID).Parts["crm"]; p.Sent != int64(300-gone) || p.Left[Expired] != 20 {
		t.Errorf("%+v, want %d sent and 20 expired", p, 300-gone)
	}
}
