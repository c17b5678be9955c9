package archive

import (
	"io"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/twmb/franz-go/pkg/kgo"

	journaled "github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
	"github.com/anabranch/anabranch/test/testkit"
)

func TestEventsAreArchived(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := cold("cold", dir, 2_000)
	b := newBench(t, testkit.Brokers(t), 3, d)
	b.produce(d.Topic(), 3, 200)
	m := b.make()
	b.run(m)
	testkit.Until(t, func() bool { return b.done(d.Topic()) }, "all is archived")
	b.check(archived(t, dir))
	testkit.Until(t, func() bool {
		return testkit.Series(t, m.registry, "anabranch_archive_events_total", "cold") == 200 &&
			testkit.Series(t, m.registry, "anabranch_archive_lag_records", "cold") == 0
	}, "200 events to be counted, and none to wait")
	b.produce(d.Topic(), 3, 5)
	testkit.Until(t, func() bool { return b.done(d.Topic()) }, "what comes later is archived")
	b.check(archived(t, dir))
	b.journalled(d.Topic(), 205)
}

// TestABucket takes what a directory does.
func TestABucket(t *testing.T) {
	t.Parallel()
	backend := s3mem.New()
	if err := backend.CreateBucket("events"); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(srv.Close)
	d := cold("cold", "", 2_000)
	d.Archive.Bucket, d.Archive.Endpoint, d.Archive.Prefix = "events", srv.URL, "a/b"
	d.Archive.AccessKey, d.Archive.SecretKey = "key", "secret"
	b := newBench(t, testkit.Brokers(t), 2, d)
	b.produce(d.Topic(), 2, 100)
	b.run(b.make())
	testkit.Until(t, func() bool { return b.done(d.Topic()) }, "all is archived")
	listed, err := backend.ListBucket("events", &gofakes3.Prefix{}, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]byte)
	for _, o := range listed.Contents {
		got, err := backend.GetObject("events", o.Key, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(got.Contents)
		if name, below := strings.CutPrefix(o.Key, "a/b/"); below && !strings.HasPrefix(name, ".") {
			all[name] = body
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b.check(all)
}

// journalled wants each event to be in the journal, and to tell the range of its object.
func (b *bench) journalled(topic string, n int) {
	b.t.Helper()
	told := make(map[int32]map[int64]bool)
	spans, err := journaled.Spans(b.t.Context(), b.client, time.Time{}, time.Time{})
	if err != nil {
		b.t.Fatal(err)
	}
	err = journaled.Read(b.t.Context(), b.cluster.Options(), spans, func(_ *kgo.Record, said *journal.Record, err error) error {
		if err != nil || said.Topic != topic || said.Stage != "archive" {
			return err
		}
		for a := range said.Attempts() {
			if a.Outcome != journal.Delivered || a.Offset < said.From || a.Offset >= said.Next || a.Source == "" || a.Destination == "" {
				b.t.Errorf("the journal says %+v of %+v", a, said.Head)
			}
			if told[said.Partition] == nil {
				told[said.Partition] = make(map[int64]bool)
			}
			told[said.Partition][a.Offset] = true
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	count := 0
	for _, offsets := range told {
		count += len(offsets)
	}
	if count != n {
		b.t.Errorf("the journal tells of %d events, want %d", count, n)
	}
}

// TestAStoreThatIsDown holds up its own destination alone, and is tried again.
func TestAStoreThatIsDown(t *testing.T) {
	t.Parallel()
	good := cold("good", t.TempDir(), 1_000)
	bad := cold("bad", "/dev/null/archive", 1_000)
	b := newBench(t, testkit.Brokers(t), 2, good, bad)
	m := b.make()
	b.run(m)
	b.produce(good.Topic(), 2, 50)
	b.produce(bad.Topic(), 2, 50)
	testkit.Until(t, func() bool { return b.done(good.Topic()) }, "the good archive has all")
	testkit.Until(t, func() bool {
		return testkit.Series(t, m.registry, "anabranch_archive_failures_total", "bad") >= 2
	}, "the bad one is tried again")
	if commits := b.committed(bad.Topic()); commits[0].Offset != 0 || !strings.Contains(commits[0].Metadata, "to=") {
		t.Errorf("committed of the bad one: %v", commits)
	}
	if m.logs.Count("archiving failed") != 1 {
		t.Errorf("want one line about it:\n%s", m.logs)
	}
	// It comes back somewhere else: the workspace is followed.
	dir := t.TempDir()
	bad.Archive.Directory = dir
	b.live.Store(snapshot(good, bad))
	testkit.Until(t, func() bool { return b.done(bad.Topic()) }, "the bad one has all")
	all := archived(t, dir)
	maps.Copy(all, renamed(archived(t, good.Archive.Directory)))
	b.check(all)
}

// renamed are objects under names that no other archive has.
func renamed(all map[string][]byte) map[string][]byte {
	other := make(map[string][]byte)
	for name, body := range all {
		n, _ := schemas.ParseArchivedName(name)
		n.Partition += 100
		other[n.String()] = body
	}
	return other
}

// TestTwoArchivesInOnePlace would overwrite each other's objects: the second waits.
func TestTwoArchivesInOnePlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, other := cold("a", dir, 1_000), cold("b", dir, 1_000)
	b := newBench(t, testkit.Brokers(t), 1, a, other)
	b.produce(a.Topic(), 1, 20)
	m := b.make()
	b.run(m)
	testkit.Until(t, func() bool { return b.done(a.Topic()) }, "the first has all")
	b.produce(other.Topic(), 1, 20)
	testkit.Until(t, func() bool { return m.logs.Count("found the archive of deliver.archive.a") > 0 }, "the second is refused")
	if b.done(other.Topic()) || len(archived(t, dir)) == 0 {
		t.Error("the second has written")
	}
}

// TestATopicThatIsMadeAnew: its offsets begin at 0 again, under the names that there are.
// Nothing is overwritten, and its events go to a new place from the first one on.
func TestATopicThatIsMadeAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := cold("cold", dir, 1_000)
	b := newBench(t, testkit.Fake(t), 1, d)
	b.produce(d.Topic(), 1, 40)
	m := b.make()
	stop := b.run(m)
	testkit.Until(t, func() bool { return b.done(d.Topic()) }, "all is archived")
	stop()
	before := archived(t, dir)
	b.check(before)
	b.remake(d.Topic())
	clear(b.lines)
	b.produce(d.Topic(), 1, 60)
	m = b.make()
	b.run(m)
	testkit.Until(t, func() bool { return m.logs.Count("found the archive of") > 0 }, "the place is refused")
	if after := archived(t, dir); !maps.EqualFunc(before, after, slices.Equal) {
		t.Error("the old archive was written to")
	}
	next := t.TempDir()
	d.Archive.Directory = next
	b.live.Store(snapshot(d))
	testkit.Until(t, func() bool { return b.done(d.Topic()) }, "the new one has all")
	b.check(archived(t, next))
}

// TestADestinationThatIsGone: its events wait, and are archived when it is back.
func TestADestinationThatIsGone(t *testing.T) {
	t.Parallel()
	d, other := cold("cold", t.TempDir(), 1_000), cold("other", t.TempDir(), 1_000)
	b := newBench(t, testkit.Brokers(t), 1, d, other)
	m := b.make()
	b.run(m)
	testkit.Until(t, func() bool { return m.Ready() == nil }, "it is a member")
	b.live.Store(snapshot(other))
	b.produce(d.Topic(), 1, 20)
	testkit.Until(t, func() bool { return m.logs.Count("no archive of that id") > 0 }, "it says so")
	b.live.Store(snapshot(d, other))
	testkit.Until(t, func() bool { return b.done(d.Topic()) }, "all is archived")
	b.check(archived(t, d.Archive.Directory))
}

// TestWithoutArchives the stage is ready, and joins no group until there is one.
func TestWithoutArchives(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t), 1)
	m := b.make()
	b.run(m)
	testkit.Until(t, func() bool { return m.Ready() == nil }, "it is ready")
	d := cold("cold", t.TempDir(), 1_000)
	b.produceTo(d)
	b.live.Store(snapshot(d))
	testkit.Until(t, func() bool { return b.done(d.Topic()) && len(archived(t, d.Archive.Directory)) > 0 }, "all is archived")
	b.check(archived(t, d.Archive.Directory))
}
