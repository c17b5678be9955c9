package ask

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// again are the users who were told again, each as often as that, and fails for what is not
// as it should be.
func (b *bench) again(t *testing.T, want string) map[string]int {
	t.Helper()
	told := make(map[string]int)
	of, err := b.ranges(t.Context(), schemas.TopicRawEvents, nil)
	if err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]bool)
	err = b.read(t.Context(), schemas.TopicRawEvents, of, func(rec *kgo.Record) error {
		h, broken := kafka.HeadersOf(rec)
		if broken != nil || h.Origin != schemas.OriginPersonas {
			return broken
		}
		if ids[h.MessageID] {
			t.Errorf("messageId %s stands there twice", h.MessageID)
		}
		ids[h.MessageID] = true
		if !strings.Contains(string(rec.Value), `"cause":"resync"`) {
			return nil
		}
		told[string(rec.Key)]++
		if !strings.Contains(string(rec.Value), want) || len(h.Only) != 1 || h.Only[0] != "crm" {
			t.Errorf("told %s to %v", rec.Value, h.Only)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// crowd has users of whom every third one leaves the audience again.
func (b *bench) crowd(t *testing.T, n int) (members map[string]int) {
	t.Helper()
	members = make(map[string]int)
	for i := range n {
		user := fmt.Sprintf("u%d", i)
		b.send(t, b.identify(user, `{"plan":"pro"}`), b.track(user, "Order Completed", `{}`))
		if i%3 == 0 {
			b.send(t, b.identify(user, `{"plan":"free"}`))
		} else {
			members[user] = 1
		}
	}
	settle()
	return members
}

func pros(t *testing.T) engine.Definitions {
	t.Helper()
	return engine.Definitions{
		Audiences: []engine.Audience{audience(t, `{"id":"pros","when":{"trait":"plan","is":"pro"}}`)},
		Traits:    []engine.Trait{trait(t, `{"id":"orders","take":"count","did":"Order Completed"}`)},
	}
}

func connect(b *bench) {
	b.Workspace.connected = map[string]bool{"crm": true, "other": true, "web": false}
}

// resyncing runs a resync to its end, and fails unless it told as many.
func (b *bench) resyncing(t *testing.T, r Resyncing, want int64) (wait func()) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		last, err := Resync(t.Context(), &b.Log, r, func(*Resynced) {})
		if err == nil && (last.Told != want || !last.Done) {
			err = fmt.Errorf("%+v, expected %d to be told", last, want)
		}
		done <- err
	}()
	return func() {
		t.Helper()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// cutShort has a resync cancelled in the midst of it, which tells nobody then.
func (b *bench) cutShort(t *testing.T, r Resyncing) {
	t.Helper()
	ctx, kill := context.WithTimeout(t.Context(), 7*time.Second)
	defer kill()
	first, err := Resync(ctx, &b.Log, r, func(*Resynced) {})
	if err == nil || first.Told < 6 || first.Told > 40 {
		t.Fatalf("%+v, %v", first, err)
	}
	virtual.Sleep(20 * time.Second)
	if told := b.again(t, `"pros":true`); len(told) > int(first.Told)+9 || len(told) < int(first.Told) {
		t.Errorf("%d were told of a resync that was cancelled at %d", len(told), first.Told)
	}
}

// TestResync tells one destination of each present member once, at the rate, whatever is
// killed meanwhile, and of nobody who came later.
func TestResync(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), pros(t))
		connect(b)
		stop := b.start(t)
		virtual.Sleep(3 * time.Second)
		members := b.crowd(t, 90)
		begun := time.Now()
		slowly := Resyncing{Key: "pros", Destination: "crm", Rate: 3}
		dry := slowly
		dry.DryRun = true
		if plan, err := Resync(t.Context(), &b.Log, dry, nil); err != nil || plan.Members != 60 || plan.Told != 0 {
			t.Fatalf("planned %+v, %v", plan, err)
		}
		b.cutShort(t, slowly)
		stop()
		stop = b.start(t)
		b.send(t, b.identify("late", `{"plan":"pro"}`))
		wait := b.resyncing(t, slowly, 60)
		virtual.Sleep(5 * time.Second)
		stop()
		b.start(t)
		wait()
		if took := time.Since(begun); took < 40*time.Second {
			t.Errorf("60 users at 3 a second were told in %s", took)
		}
		if diff := cmp.Diff(members, b.again(t, `"pros":true`)); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if v, err := Check(t.Context(), &b.Log); err != nil || v.Differences != 0 {
			t.Errorf("check finds %+v, %v", v, err)
		}
		// Another time is another resync.
		for user := range members {
			members[user] = 2
		}
		members["late"] = 1
		b.resyncing(t, Resyncing{Key: "pros", Destination: "crm", Rate: 1000}, 61)()
		if diff := cmp.Diff(members, b.again(t, `"pros":true`)); diff != "" {
			t.Errorf("told the second time (-want +got):\n%s", diff)
		}
	})
}

// TestAResyncOfATrait tells the values, and of a definition that is gone nothing.
func TestAResyncOfATrait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), pros(t))
		connect(b)
		b.start(t)
		virtual.Sleep(3 * time.Second)
		b.crowd(t, 9)
		if last, err := Resync(t.Context(), &b.Log, Resyncing{Key: "orders", Destination: "crm", Rate: 100}, func(*Resynced) {}); err != nil || last.Told != 9 {
			t.Errorf("%+v, %v", last, err)
		}
		if told := b.again(t, `"orders":1`); len(told) != 9 {
			t.Errorf("told %v", told)
		}
		for _, c := range []struct{ key, destination, want string }{
			{"pros", "crn", `there is no destination "crn": did you mean "crm"?`},
			{"pros", "web", "destination web is told nothing of audiences and traits"},
			{"pro", "crm", `there is no audience or computed trait "pro": did you mean "pros"?`},
		} {
			if _, err := Resync(t.Context(), &b.Log, Resyncing{Key: c.key, Destination: c.destination, Rate: 1}, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		}
		stale := Log{Kafka: b.Kafka, Topics: b.Topics, Workspace: b.Workspace}
		next := pros(t)
		next.Audiences = nil
		b.inForce.Store(&next)
		settle()
		if last, err := Resync(t.Context(), &stale, Resyncing{Key: "pros", Destination: "crm", Rate: 100}, func(*Resynced) {}); err != nil || last.Told != 0 {
			t.Errorf("of a definition that is gone: %+v, %v", last, err)
		}
	})
}
