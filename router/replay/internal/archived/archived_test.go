package archived_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/objects"
	"github.com/anabranch/anabranch/router/replay/internal/archived"
	"github.com/anabranch/anabranch/schemas"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// shelf is an archive in a directory.
type shelf struct {
	objects.Store

	dir string
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{dir: t.TempDir()}
	var err error
	if s.Store, err = objects.Open(objects.Place{Directory: s.dir}); err != nil {
		t.Fatal(err)
	}
	if err = objects.Claim(t.Context(), s, objects.Owner{Topic: "deliver.archive.cold", ID: "00ff"}); err != nil {
		t.Fatal(err)
	}
	return s
}

func name(source string, day time.Time, partition int32, from, to int64) schemas.ArchivedName {
	return schemas.ArchivedName{Source: source, Day: day.Truncate(24 * time.Hour), Partition: partition, From: from, To: to}
}

// put stores an object that is old enough.
func (s *shelf) put(t *testing.T, n schemas.ArchivedName, lines ...string) {
	t.Helper()
	var body bytes.Buffer
	zip := gzip.NewWriter(&body)
	_, err := zip.Write([]byte(strings.Join(lines, "\n") + "\n"))
	if err = errors.Join(err, zip.Close(), s.Put(t.Context(), n.String(), body.Bytes())); err != nil {
		t.Fatal(err)
	}
	s.age(t, n, time.Hour)
}

func (s *shelf) age(t *testing.T, n schemas.ArchivedName, by time.Duration) {
	t.Helper()
	at := time.Now().Add(-by)
	if err := os.Chtimes(filepath.Join(s.dir, filepath.FromSlash(n.String())), at, at); err != nil {
		t.Fatal(err)
	}
}

// line is an event of a number that was received so many seconds after noon.
func line(n, second int) string {
	at := noon.Add(time.Duration(second) * time.Second).Format(schemas.TimeLayout)
	return fmt.Sprintf(`{"type":"track","messageId":"m%d","userId":"u%d","event":"e","timestamp":%q,"receivedAt":%q}`, n, n%3, at, at)
}

func (s *shelf) open(t *testing.T, c archived.Choice, ends map[int32]int64) *archived.Log {
	t.Helper()
	if c.To.IsZero() {
		c.To = time.Now()
	}
	l, err := archived.Open(t.Context(), s, c, ends, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// read returns the messageIds of partition 0 from an offset on, with their offsets.
func read(ctx context.Context, l *archived.Log, from int64) (all []string, err error) {
	r := l.Reader(0, from, nobody)
	for {
		rec, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if rec == nil {
			continue
		}
		h, err := kafka.HeadersOf(rec)
		if err != nil {
			return all, err
		}
		all = append(all, fmt.Sprintf("%d:%s", rec.Offset, h.MessageID))
	}
}

func nobody(string) *schemas.BlockedIDs { return nil }

// expect reads partition 0 from each of its offsets on.
func expect(t *testing.T, l *archived.Log, want ...string) {
	t.Helper()
	for from := range l.Offsets()[0] + 1 {
		rest := slices.DeleteFunc(slices.Clone(want), func(s string) bool {
			var offset int64
			_, _ = fmt.Sscanf(s, "%d:", &offset)
			return offset < from
		})
		if got, err := read(t.Context(), l, from); err != nil || !slices.Equal(got, rest) {
			t.Errorf("from %d: %v, %v, want %v", from, got, err, rest)
		}
	}
}

// TestALog has each event of the time at one offset, wherever reading begins, and passes over
// objects of other days.
func TestALog(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, name("web", noon.AddDate(0, 0, -1), 0, 0, 3), "not opened")
	s.put(t, name("web", noon, 0, 3, 8), line(0, 0), line(1, 1)) // three are another source's, or markers
	s.put(t, name("app", noon, 0, 3, 8), line(2, 2))
	s.put(t, name("web", noon, 0, 10, 12), line(3, 3), line(4, 60))
	s.put(t, name("web", noon, 1, 0, 1), line(5, 5))
	s.put(t, name("web", noon.AddDate(0, 0, 1), 0, 12, 13), "not opened")
	all := s.open(t, archived.Choice{From: noon, To: noon.Add(time.Minute)}, nil)
	expect(t, all, "0:m2", "1:m0", "2:m1", "5:m3")
	if o := all.Offsets(); o[0] != 7 || o[1] != 1 || all.Objects() != 4 {
		t.Errorf("offsets %v of %d objects", o, all.Objects())
	}
	expect(t, s.open(t, archived.Choice{From: noon, To: noon.Add(time.Minute), Source: "web"}, nil), "0:m0", "1:m1", "5:m3")
	expect(t, s.open(t, archived.Choice{From: noon.Add(2 * time.Second), To: noon.Add(time.Hour)}, nil), "0:m2", "5:m3", "6:m4")
}

// TestWhatIsAddedLater is not in a log that is opened again, and a change is seen.
func TestWhatIsAddedLater(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, name("web", noon, 0, 0, 1), line(0, 0))
	first := s.open(t, archived.Choice{}, nil)
	s.put(t, name("web", noon, 0, 1, 2), line(1, 1))
	s.put(t, name("web", noon, 1, 0, 1), line(2, 2))
	again := s.open(t, archived.Choice{}, first.Ends())
	expect(t, again, "0:m0")
	if again.Digest() != first.Digest() {
		t.Error("the same objects have another digest")
	}
	s.put(t, name("app", noon, 0, 0, 1), line(3, 3))
	if other := s.open(t, archived.Choice{}, first.Ends()); other.Digest() == first.Digest() {
		t.Error("other objects have the same digest")
	}
}

// TestRangesThatOverlap have offsets of their own.
func TestRangesThatOverlap(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, name("web", noon, 0, 0, 4), line(0, 0), line(1, 1), line(2, 2), line(3, 3))
	s.put(t, name("web", noon, 0, 2, 4), line(4, 4), line(5, 5))
	expect(t, s.open(t, archived.Choice{}, nil), "0:m0", "1:m1", "2:m2", "3:m3", "4:m4", "5:m5")
}

// TestARangeUnderWay waits for its other objects.
func TestARangeUnderWay(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, name("web", noon, 0, 0, 1), line(0, 0))
	s.put(t, name("app", noon, 0, 1, 3), line(1, 1))
	s.put(t, name("web", noon, 0, 1, 3), line(2, 2))
	s.age(t, name("web", noon, 0, 1, 3), 0)
	expect(t, s.open(t, archived.Choice{}, nil), "0:m0")
}

// TestWhatCannotBeRead is named, with its line.
func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	broken := name("web", noon, 0, 0, 2)
	for want, spoil := range map[string]func(t *testing.T, s *shelf){
		"line 2: ": func(t *testing.T, s *shelf) { t.Helper(); s.put(t, broken, line(0, 0), `{"type":"tr`) },
		"line 2: expected an event with a type and a messageId": func(t *testing.T, s *shelf) {
			t.Helper()
			s.put(t, broken, line(0, 0), `{"type":"track"}`)
		},
		"line 1: expected an event with receivedAt": func(t *testing.T, s *shelf) {
			t.Helper()
			s.put(t, broken, `{"type":"track","messageId":"m"}`)
		},
		"line 3: expected 2 lines at most": func(t *testing.T, s *shelf) {
			t.Helper()
			s.put(t, broken, line(0, 0), line(1, 1), line(2, 2))
		},
		"line 3: unexpected EOF": func(t *testing.T, s *shelf) {
			t.Helper()
			s.put(t, broken, line(0, 0), line(1, 1))
			path := filepath.Join(s.dir, filepath.FromSlash(broken.String()))
			body, err := os.ReadFile(path)
			if err = errors.Join(err, os.WriteFile(path, body[:len(body)-4], 0o600)); err != nil {
				t.Fatal(err)
			}
			s.age(t, broken, time.Hour)
		},
		"gzip: invalid header": func(t *testing.T, s *shelf) {
			t.Helper()
			if err := s.Put(t.Context(), broken.String(), []byte("no archive")); err != nil {
				t.Fatal(err)
			}
			s.age(t, broken, time.Hour)
		},
	} {
		s := newShelf(t)
		spoil(t, s)
		_, err := read(t.Context(), s.open(t, archived.Choice{}, nil), 0)
		if !errors.Is(err, archived.ErrChanged) || !strings.Contains(err.Error(), broken.String()) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q and the name in it", err, want)
		}
	}
}

// TestWhatIsGone has changed the archive, unless the whole archive is away.
func TestWhatIsGone(t *testing.T) {
	t.Parallel()
	s, n := newShelf(t), name("web", noon, 0, 0, 1)
	s.put(t, n, line(0, 0))
	l := s.open(t, archived.Choice{}, nil)
	if err := os.Remove(filepath.Join(s.dir, filepath.FromSlash(n.String()))); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t.Context(), l, 0); !errors.Is(err, archived.ErrChanged) || !strings.Contains(err.Error(), n.String()+" is not there any more") {
		t.Errorf("an object is gone: %v", err)
	}
	if err := os.Rename(s.dir, s.dir+"-unmounted"); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t.Context(), l, 0); !errors.Is(err, archived.ErrAway) || errors.Is(err, archived.ErrChanged) {
		t.Errorf("the archive is gone: %v", err)
	}
}

// TestALineIsItsEvent: bytes, key, time stamps and the integrations map are those of the
// first time.
func TestALineIsItsEvent(t *testing.T) {
	t.Parallel()
	const at, before = "2026-11-20T12:00:00.000Z", "2024-02-03T04:05:06.000Z"
	day := noon.Truncate(24 * time.Hour)
	for text, want := range map[string]struct {
		key string
		schemas.Headers
	}{
		`{"type":"track","messageId":"m","userId":"u \"1\"","anonymousId":"a","timestamp":"` + at + `","receivedAt":"` + at + `"}`: {
			`u "1"`, schemas.Headers{Source: "web", Type: schemas.TypeTrack, MessageID: "m", Origin: schemas.OriginAPI, Received: noon},
		},
		`{"type":"page","messageId":"m","userId":"null","anonymousId":"a","integrations":{"All":false},"timestamp":"` + before + `","receivedAt":"` + at + `"}`: {
			"a", schemas.Headers{
				Source: "web", Type: schemas.TypePage, MessageID: "m", Origin: schemas.OriginAPI, Received: noon, Integrations: []byte(`{"All":false}`),
				Happened: time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC),
			},
		},
		`{"type":"track","messageId":"m","anonymousId":"nobody","integrations":{},"receivedAt":"` + at + `"}`: {
			"m", schemas.Headers{Source: "web", Type: schemas.TypeTrack, MessageID: "m", Origin: schemas.OriginAPI, Received: noon},
		},
		`{"type":"delete","messageId":"m","userId":"u","timestamp":"` + at + `"}`: {
			"u", schemas.Headers{Source: "web", Type: schemas.TypeDelete, MessageID: "m", Origin: schemas.OriginDeletion, Received: noon},
		},
	} {
		s := newShelf(t)
		s.put(t, name("web", noon, 0, 7, 8), text)
		l := s.open(t, archived.Choice{From: day}, nil)
		r := l.Reader(0, 0, func(source string) *schemas.BlockedIDs { return schemas.NewBlockedIDs([]string{"Nobody"}) })
		rec, err := r.Next(t.Context())
		if err != nil || rec == nil {
			t.Fatalf("%s: %v, %v", text, rec, err)
		}
		h, err := kafka.HeadersOf(rec)
		if string(rec.Value) != text || string(rec.Key) != want.key || !rec.Timestamp.Equal(noon) || err != nil || fmt.Sprint(h) != fmt.Sprint(want.Headers) {
			t.Errorf("%s:\nkey %s, %v, %v\nwant %s, %v", rec.Value, rec.Key, h, err, want.key, want.Headers)
		}
	}
}

// TestWhatNobodyCouldRead then is an event without headers.
func TestWhatNobodyCouldRead(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, name("_unreadable", noon, 0, 0, 1), "?")
	rec, err := s.open(t, archived.Choice{}, nil).Reader(0, 0, nobody).Next(t.Context())
	if err != nil || rec == nil || string(rec.Value) != "?" || len(rec.Headers) > 0 {
		t.Errorf("%v, %v", rec, err)
	}
}

// TestDeletions are found whatever time and source is meant.
func TestDeletions(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	order := func(user string, day int) string {
		return fmt.Sprintf(`{"type":"delete","messageId":"d","userId":%q,"timestamp":%q}`, user, noon.AddDate(0, 0, day).Format(schemas.TimeLayout))
	}
	s.put(t, name("web", noon, 0, 0, 3), line(0, 0), order("u1", 0), strings.Replace(line(1, 1), `"event"`, `"properties":{"type":"delete"},"event"`, 1))
	s.put(t, name("app", noon.AddDate(0, 0, 2), 1, 0, 1), order("u2", 2))
	s.put(t, name("app", noon.AddDate(0, 0, -2), 1, 9, 10), order("u3", -2))
	found, looks := make(map[string]time.Time), 0
	l := s.open(t, archived.Choice{From: noon, To: noon.Add(time.Minute), Source: "web"}, nil)
	err := l.Deletions(t.Context(), nobody, func() error { looks++; return nil }, func(user []byte, at time.Time) { found[string(user)] = at })
	if err != nil || looks != 2 || len(found) != 2 || !found["u1"].Equal(noon) || !found["u2"].Equal(noon.AddDate(0, 0, 2)) {
		t.Errorf("%v after %d looks, %v", found, looks, err)
	}
	stop := errors.New("stop")
	if err := l.Deletions(t.Context(), nobody, func() error { return stop }, nil); !errors.Is(err, stop) || errors.Is(err, archived.ErrChanged) {
		t.Errorf("told to stop: %v", err)
	}
}
