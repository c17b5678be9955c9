package replay

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/objects"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// takenOn is when archived events were received: long before the log begins.
var takenOn = time.Date(2024, 2, 28, 23, 59, 0, 0, time.UTC)

// inDirectory and inBucket are archives of tests.
func inDirectory(t *testing.T) *workspace.Archive {
	t.Helper()
	return &workspace.Archive{Directory: t.TempDir()}
}

func inBucket(t *testing.T) *workspace.Archive {
	t.Helper()
	backend := s3mem.New(s3mem.WithTimeSource(gofakes3.FixedTimeSource(takenOn)))
	if err := backend.CreateBucket("events"); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(srv.Close)
	return &workspace.Archive{Bucket: "events", Endpoint: srv.URL, Region: "eu-central-1", Prefix: "a/b", AccessKey: "key", SecretKey: "secret"}
}

// shelf is a bench with an archive, of which the log has nothing.
type shelf struct {
	*bench
	objects.Store

	at    *workspace.Archive
	ends  map[int32]int64
	lines map[schemas.ArchivedName][]string
}

func newShelf(t *testing.T, at *workspace.Archive, destinations ...string) *shelf {
	t.Helper()
	s := &shelf{bench: newBench(t, destinations...), at: at, ends: make(map[int32]int64), lines: make(map[schemas.ArchivedName][]string)}
	ws := s.live.Load()
	all := []workspace.Destination{{ID: "cold", Type: workspace.TypeArchive, Enabled: true, Sources: []string{"web"}, Archive: at}}
	for _, d := range ws.Destinations() {
		all = append(all, *d)
	}
	s.live = workspace.NewLive(workspace.NewSnapshot(connected().Sources(), all))
	var err error
	if s.Store, err = objects.Open(objects.PlaceOf(at)); err != nil {
		t.Fatal(err)
	}
	if err = objects.Claim(t.Context(), s, objects.Owner{Topic: "deliver.archive.cold", ID: "00ff"}); err != nil {
		t.Fatal(err)
	}
	return s
}

// put stores a range as one object, and nothing of some offsets behind it.
func (s *shelf) put(t *testing.T, partition int32, day time.Time, lines ...string) schemas.ArchivedName {
	t.Helper()
	from := s.ends[partition]
	n := schemas.ArchivedName{Source: "web", Day: day.Truncate(24 * time.Hour), Partition: partition, From: from, To: from + int64(len(lines)) + 1}
	s.ends[partition] = n.To
	var body bytes.Buffer
	zip := gzip.NewWriter(&body)
	_, err := zip.Write([]byte(strings.Join(lines, "\n") + "\n"))
	if err = errors.Join(err, zip.Close(), s.Put(t.Context(), n.String(), body.Bytes())); err != nil {
		t.Fatal(err)
	}
	if s.at.Directory != "" {
		if err = os.Chtimes(s.path(n), takenOn, takenOn); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func (s *shelf) path(n schemas.ArchivedName) string {
	return filepath.Join(s.at.Directory, filepath.FromSlash(n.String()))
}

// received is when an event was.
func received(n int) time.Time { return takenOn.Add(time.Duration(n) * time.Second) }

// stored is event as a line of an archive.
func stored(user string, n int) string {
	at := received(n).Format(schemas.TimeLayout)
	return fmt.Sprintf(`{"type":"track","event":"e%d","userId":"%s","messageId":"m%d","timestamp":%q,"receivedAt":%q}`, n%7, user, n, at, at)
}

// fill stores n events of ten users, on two partitions and about two days.
func (s *shelf) fill(t *testing.T, n int) {
	t.Helper()
	const each = 40
	pending := make(map[int32][]string)
	for i := range n {
		num := int32(i % 10 % 2)
		pending[num] = append(pending[num], stored(fmt.Sprintf("u%d", i%10), i))
		if len(pending[num]) == each || i >= n-2 {
			s.put(t, num, received(i), pending[num]...)
			pending[num] = nil
		}
	}
}

func (s *shelf) operator() *Operator { return &Operator{Kafka: s.Options(), Topics: s.topics} }

// prepare is a run of all that the archive has.
func (s *shelf) prepare(t *testing.T, rate int) *Run {
	t.Helper()
	r, err := s.operator().Prepare(t.Context(), Request{Archive: "cold", Rate: rate}, s.live.Load(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (s *shelf) start(t *testing.T, rate int) *Run {
	t.Helper()
	r := s.prepare(t, rate)
	if err := s.operator().Write(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAReplayOfADirectory sends each event once, as it was the first time.
func TestAReplayOfADirectory(t *testing.T) {
	t.Parallel()
	replayAll(t, inDirectory(t))
}

// TestAReplayOfABucket does the same.
func TestAReplayOfABucket(t *testing.T) {
	t.Parallel()
	replayAll(t, inBucket(t))
}

func replayAll(t *testing.T, at *workspace.Archive) {
	t.Helper()
	const n = 500
	s := newShelf(t, at, "crm", "lake")
	s.fill(t, n)
	s.drain(t, "crm", "lake")
	r := s.start(t, MaxRate)
	testkit.Start(t, s.service(t).Run)
	e := s.over(t, r.ID)
	for _, id := range r.Destinations {
		s.once(t, id, r.ID, n)
		if p := e.Parts[id]; p.State != Done || p.Sent != n || len(p.Left) != 0 {
			t.Errorf("%s: %+v", id, p)
		}
	}
	if e.Read() != 2*e.Run.Events() || e.State() != "done" {
		t.Errorf("%s, %d of %d read", e.State(), e.Read(), 2*e.Run.Events())
	}
	for _, rec := range s.ReadAll(t, schemas.ReplayTopic("crm"), n) {
		h, err := kafka.HeadersOf(rec)
		if err != nil {
			t.Fatal(err)
		}
		number, _ := strconv.Atoi(strings.TrimPrefix(h.MessageID, "m"))
		if want := stored(string(rec.Key), number); string(rec.Value) != want || !h.Received.Equal(received(number)) {
			t.Errorf("%s received %s, want %s", rec.Value, h.Received, want)
		}
	}
}

// TestAnArchiveKilledAgainAndAgain: a run that one process after the other takes from its
// predecessor, in the midst of an object, sends each event once.
func TestAnArchiveKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	const n, kills = 1_000, 8
	s := newShelf(t, inDirectory(t), "crm", "lake")
	s.fill(t, n)
	s.drain(t, "crm", "lake")
	r := s.start(t, 60)
	alone := func(set *Settings) { set.Alone = true } // takes the run at once
	stop := func() {}
	for range kills {
		before := s.entry(t, r.ID).Sent()
		next := testkit.Start(t, s.service(t, alone).Run)
		testkit.Until(t, func() bool { return s.entry(t, r.ID).Sent() > before }, "something that was sent")
		stop() // that was fenced, as a rule
		stop = next
	}
	stop()
	if _, err := s.operator().Change(t.Context(), r.ID, func(r *Run) error { r.Rate = MaxRate; return nil }); err != nil {
		t.Fatal(err)
	}
	testkit.Start(t, s.service(t, alone).Run)
	s.over(t, r.ID)
	for _, id := range r.Destinations {
		s.once(t, id, r.ID, n)
	}
}

// TestAPlanOfAnArchive and its run leave out the same.
func TestAPlanOfAnArchive(t *testing.T) {
	t.Parallel()
	s := newShelf(t, inDirectory(t), "crm")
	past := func(days int) time.Time { return takenOn.AddDate(0, 0, days) }
	s.put(t, 0, past(0), stored("u1", 1), stored("u1", 2), stored("hidden", 3), stored("leaver", 4))
	s.put(t, 0, past(0), stored("u1", 1), stored("gone", 5)) // a copy
	deletion := fmt.Sprintf(`{"type":"delete","messageId":"d","userId":"leaver","timestamp":%q}`, past(1).Format(schemas.TimeLayout))
	s.put(t, 0, past(1), deletion)
	s.put(t, 0, past(2), strings.ReplaceAll(stored("leaver", 6), "2024-02-28T", "2024-03-01T")) // came back
	order := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte("gone"), Value: []byte(`{"type":"delete","userId":"gone"}`)}
	kafka.SetHeaders(order, &schemas.Headers{Source: "web", Type: schemas.TypeDelete, MessageID: "d", Origin: schemas.OriginDeletion})
	s.add(t, order)
	s.drain(t, "crm")
	r := s.prepare(t, MaxRate)
	f, err := s.operator().Plan(t.Context(), r, s.live.Load(), listeners{}, isHidden)
	if err != nil {
		t.Fatal(err)
	}
	want := map[Reason]int64{Copy: 1, Suppressed: 1, Deleted: 2, Notification: 1}
	got := f.Destinations["crm"]
	if diff := cmp.Diff(want, got.Left); diff != "" || got.Send != 3 || f.Events != 8 || f.Journal {
		t.Errorf("%+v of %d events, journal: %t; left out (-want +got):\n%s", got, f.Events, f.Journal, diff)
	}
	var text strings.Builder
	if err := f.Print(&text); err != nil || !strings.Contains(text.String(), "events of archive cold ("+s.at.Directory+"), 4 objects; the journal does not know them") {
		t.Errorf("%v\n%s", err, text.String())
	}
	if err := s.operator().Write(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	testkit.Start(t, s.service(t, func(set *Settings) { set.Register = suppressing(t, "hidden") }).Run)
	e := s.over(t, r.ID)
	if diff := cmp.Diff(want, e.Parts["crm"].Left); diff != "" || e.Sent() != 3 {
		t.Errorf("sent %d; left out (-want +got):\n%s", e.Sent(), diff)
	}
}

// TestAnArchiveThatHasChanged ends the run: its note names the object and the line.
func TestAnArchiveThatHasChanged(t *testing.T) { //nolint:tparallel // brokers that are shared are one test's at a time
	t.Parallel()
	for what, c := range map[string]struct {
		spoil func(t *testing.T, s *shelf, n schemas.ArchivedName)
		want  string
	}{
		"broken": {func(t *testing.T, s *shelf, n schemas.ArchivedName) {
			t.Helper()
			body, err := os.ReadFile(s.path(n))
			if err = errors.Join(err, os.WriteFile(s.path(n), body[:len(body)-4], 0o600)); err != nil {
				t.Fatal(err)
			}
		}, ", line 2: unexpected EOF"},
		"gone": {func(t *testing.T, s *shelf, n schemas.ArchivedName) {
			t.Helper()
			if err := os.Remove(s.path(n)); err != nil {
				t.Fatal(err)
			}
		}, "the archive cold has other objects of that time than when the replay was asked for: 1, expected 2"},
		"of another topic": {func(t *testing.T, s *shelf, _ schemas.ArchivedName) {
			t.Helper()
			if err := s.Put(t.Context(), objects.ClaimName, []byte(`{"topic":"deliver.archive.cold","id":"01ff"}`)); err != nil {
				t.Fatal(err)
			}
		}, "the archive cold is that of another topic than when the replay was asked for"},
	} {
		t.Run(what, func(t *testing.T) {
			s := newShelf(t, inDirectory(t), "crm")
			s.put(t, 0, takenOn, stored("u1", 1))
			n := s.put(t, 0, takenOn, stored("u1", 2))
			r := s.start(t, MaxRate)
			c.spoil(t, s, n)
			s.drain(t, "crm")
			testkit.Start(t, s.service(t).Run)
			e := s.over(t, r.ID)
			if p := e.Parts["crm"]; p.State != Abandoned || p.Sent > 0 || !strings.Contains(p.Note, c.want) || e.State() != "failed" {
				t.Errorf("%s: %+v, want %q in the note", e.State(), p, c.want)
			}
		})
	}
}

// TestAnArchiveThatIsAway is waited for, and people see it.
func TestAnArchiveThatIsAway(t *testing.T) {
	t.Parallel()
	s := newShelf(t, inDirectory(t), "crm")
	s.fill(t, 100)
	r := s.start(t, MaxRate)
	away := s.at.Directory + "-unmounted"
	if err := os.Rename(s.at.Directory, away); err != nil {
		t.Fatal(err)
	}
	s.drain(t, "crm")
	testkit.Start(t, s.service(t, func(set *Settings) { set.Alone = true }).Run)
	testkit.Until(t, func() bool {
		return strings.Contains(s.entry(t, r.ID).Claim.Trouble["crm"], "the archive can't be read: "+s.at.Directory+": found no .anabranch.json")
	}, "the archive to be missed")
	if err := os.Rename(away, s.at.Directory); err != nil {
		t.Fatal(err)
	}
	s.over(t, r.ID)
	s.once(t, "crm", r.ID, 100)
}

// TestArchivesThatCannotBeReplayed are refused with the flag that says it.
func TestArchivesThatCannotBeReplayed(t *testing.T) {
	t.Parallel()
	s := newShelf(t, inDirectory(t), "crm")
	for want, q := range map[string]Request{
		"--from-archive=frozen: expected the id of a destination of type archive":    {Archive: "frozen"},
		"--from-archive=crm: expected the id of a destination of type archive":       {Archive: "crm"},
		"--only=missing --from-archive=cold: the journal says":                       {Archive: "cold", Choice: Choice{Missing: true}},
		"--source=personas --from-archive=cold: an archive does not say":             {Archive: "cold", Choice: Choice{Source: workspace.SourcePersonas}},
		"expected a time that begins before it ends":                                 {Archive: "cold", From: takenOn, To: takenOn},
		"--from-archive=empty: the archive can't be read: /nowhere/at/all: found no": {Archive: "empty"},
	} {
		ws := workspace.NewSnapshot(append(connected().Sources(), workspace.Source{ID: workspace.SourcePersonas, Enabled: true}), []workspace.Destination{
			{ID: "crm", Type: workspace.TypeWebhooks, Enabled: true},
			{ID: "cold", Type: workspace.TypeArchive, Enabled: true, Archive: s.at},
			{ID: "empty", Type: workspace.TypeArchive, Enabled: true, Archive: &workspace.Archive{Directory: "/nowhere/at/all"}},
		})
		if _, err := s.operator().Prepare(t.Context(), q, ws, time.Now()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}

// TestAnEarlierReleaseLeavesArchivesAlone: it would take their offsets for those of the log.
func TestAnEarlierReleaseLeavesArchivesAlone(t *testing.T) {
	t.Parallel()
	s := newShelf(t, inDirectory(t), "crm")
	s.put(t, 0, takenOn, stored("u1", 1))
	rec, err := record(s.prepare(t, 1), kindRun, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := schemas.CheckVersion(rec.Value); !schemas.IsLaterVersion(err) {
		t.Errorf("an earlier release reads %s", rec.Value)
	}
	if err := NewBook().Add(rec); err != nil {
		t.Error(err)
	}
}
