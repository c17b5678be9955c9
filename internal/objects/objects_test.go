package objects

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// server is one that speaks S3, with a bucket.
func server(t *testing.T) Place {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("events"); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(srv.Close)
	return Place{Bucket: "events", Endpoint: srv.URL, Region: "eu-central-1", AccessKey: "key", SecretKey: "very secret"}
}

// places are one of each kind.
func places(t *testing.T) map[string]Place {
	t.Helper()
	prefixed := server(t)
	prefixed.Prefix = "a/b"
	return map[string]Place{"directory": {Directory: filepath.Join(t.TempDir(), "not", "there")}, "bucket": server(t), "prefix": prefixed}
}

func open(t *testing.T, p Place) Store {
	t.Helper()
	s, err := Open(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStores(t *testing.T) {
	t.Parallel()
	for kind, at := range places(t) {
		s, ctx := open(t, at), t.Context()
		if there, err := s.Has(ctx, "web/2026-11-23/a.gz"); there || err != nil {
			t.Errorf("%s: has what was never stored: %t, %v", kind, there, err)
		}
		if _, there, err := s.Get(ctx, "web/2026-11-23/a.gz"); there || err != nil {
			t.Errorf("%s: gets what was never stored: %t, %v", kind, there, err)
		}
		for _, body := range []string{"first", "a longer one", "short"} {
			if err := s.Put(ctx, "web/2026-11-23/a.gz", []byte(body)); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			got, there, err := s.Get(ctx, "web/2026-11-23/a.gz")
			if has, failed := s.Has(ctx, "web/2026-11-23/a.gz"); string(got) != body || !there || err != nil || !has || failed != nil {
				t.Errorf("%s: %q, %t, %v, %t, %v, want %q", kind, got, there, err, has, failed, body)
			}
		}
	}
}

// TestAPlaceBelongsToOneTopic: another one, and the same one made again, would overwrite what
// is there.
func TestAPlaceBelongsToOneTopic(t *testing.T) {
	t.Parallel()
	own := Owner{"deliver.archive.cold", "00ff"}
	for kind, at := range places(t) {
		s := open(t, at)
		for range 2 {
			if err := Claim(t.Context(), s, own); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
		}
		for _, other := range []Owner{{"deliver.archive.other", "00ff"}, {own.Topic, "01ff"}} {
			if err := Claim(t.Context(), s, other); err == nil || !strings.Contains(err.Error(), own.ID) {
				t.Errorf("%s: %v takes the place: %v", kind, other, err)
			}
		}
		if err := s.Put(t.Context(), ClaimName, []byte("?")); err != nil {
			t.Fatal(err)
		}
		if err := Claim(t.Context(), s, own); err == nil {
			t.Errorf("%s: a claim that nobody understands is passed over", kind)
		}
	}
}

// TestTwoWriteOneObject: what is read meanwhile is whole.
func TestTwoWriteOneObject(t *testing.T) {
	t.Parallel()
	s, body := open(t, Place{Directory: t.TempDir()}), bytes.Repeat([]byte("line\n"), 20_000)
	var writing sync.WaitGroup
	for range 4 {
		writing.Go(func() {
			for range 25 {
				// One may remove what another has under way: that one tries again.
				if err := s.Put(t.Context(), "a/b/c", body); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		if got, there, err := s.Get(t.Context(), "a/b/c"); err != nil || there && !bytes.Equal(got, body) {
			t.Fatalf("read %d bytes, %v", len(got), err)
		}
	}
	if err := s.Put(t.Context(), "a/b/c", body); err != nil {
		t.Fatal(err)
	}
}

// TestWhatAKillLeft is gone after the next try.
func TestWhatAKillLeft(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "a"), dirMode); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".b.123", ".bc.123"} {
		if err := os.WriteFile(filepath.Join(root, "a", name), []byte("half"), fileMode); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(t, Place{Directory: root}).Put(t.Context(), "a/b", []byte("whole")); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(root, "a", ".*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != ".bc.123" {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestPlacesThatCannotWork(t *testing.T) {
	t.Parallel()
	for what, p := range map[string]Place{
		"nowhere":    {},
		"two places": {Directory: "a", Bucket: "b"},
		"no scheme":  {Bucket: "b", Endpoint: "minio:9000"},
		"a path":     {Bucket: "b", Endpoint: "http://minio:9000/b"},
		"a password": {Bucket: "b", Endpoint: "http://u:p@minio:9000"},
	} {
		if _, err := Open(p); err == nil {
			t.Errorf("%s: opened", what)
		}
	}
}

// TestABucketThatIsNotThere is an error, and no empty archive. No error tells the keys.
func TestABucketThatIsNotThere(t *testing.T) {
	t.Parallel()
	at := server(t)
	at.Bucket = "other"
	s := open(t, at)
	_, getErr := ignoreBody(s.Get(t.Context(), "a"))
	for what, err := range map[string]error{"put": s.Put(t.Context(), "a", nil), "get": getErr, "claim": Claim(t.Context(), s, Owner{})} {
		if err == nil || strings.Contains(err.Error(), at.SecretKey) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Put(ctx, "a", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func ignoreBody(_ []byte, there bool, err error) (bool, error) { return there, err }

func TestPlacesAreNamed(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]Place{
		"/srv/archive":                    {Directory: "/srv/archive"},
		"s3://events":                     {Bucket: "events", SecretKey: "s"},
		"s3://events/a at http://minio:9": {Bucket: "events", Prefix: "a", Endpoint: "http://minio:9"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestLists have what stands directly below a directory, in order.
func TestLists(t *testing.T) {
	t.Parallel()
	for kind, at := range places(t) {
		s, ctx := open(t, at), t.Context()
		if all, err := s.List(ctx, ""); len(all) > 0 || err != nil {
			t.Errorf("%s: lists what was never stored: %v, %v", kind, all, err)
		}
		for _, name := range []string{"web/2026-11-24/a", "web/2026-11-23/c", "web/2026-11-23/b", "app/2026-11-23/a", ClaimName} {
			if err := s.Put(ctx, name, []byte(name)); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
		}
		for dir, want := range map[string][]string{
			"":                {ClaimName, "app/", "web/"},
			"web":             {"web/2026-11-23/", "web/2026-11-24/"},
			"web/2026-11-23/": {"web/2026-11-23/b", "web/2026-11-23/c"},
			"we":              nil,
		} {
			all, err := s.List(ctx, dir)
			var names []string
			for _, e := range all {
				names = append(names, e.Name)
				if !strings.HasSuffix(e.Name, "/") && time.Since(e.Modified).Abs() > time.Hour {
					t.Errorf("%s: %s was modified %s", kind, e.Name, e.Modified)
				}
			}
			if err != nil || !slices.Equal(names, want) {
				t.Errorf("%s: %q: %v, %v, want %v", kind, dir, names, err, want)
			}
		}
	}
}

// blind sees nothing at its first look.
type blind struct {
	Store

	looked bool
}

func (b *blind) Get(ctx context.Context, name string) ([]byte, bool, error) {
	if !b.looked {
		b.looked = true
		return nil, false, nil
	}
	return b.Store.Get(ctx, name)
}

// TestTwoClaimOnePlace at once: the place belongs to one of them.
func TestTwoClaimOnePlace(t *testing.T) {
	t.Parallel()
	first, second := Owner{"deliver.archive.cold", "00ff"}, Owner{"deliver.archive.other", "01ff"}
	for kind, at := range places(t) {
		s := open(t, at)
		if err := Claim(t.Context(), s, first); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if err := Claim(t.Context(), &blind{Store: s}, second); err == nil || !strings.Contains(err.Error(), first.ID) {
			t.Errorf("%s: %v takes the place: %v", kind, second, err)
		}
		if err := Claim(t.Context(), &blind{Store: s}, first); err != nil {
			t.Errorf("%s: what was claimed twice by one: %v", kind, err)
		}
		if owner, there, err := OwnerOf(t.Context(), s); owner != first || !there || err != nil {
			t.Errorf("%s: %v, %t, %v", kind, owner, there, err)
		}
	}
}

// TestAServerWithoutConditions lets a place be claimed all the same.
func TestAServerWithoutConditions(t *testing.T) {
	t.Parallel()
	at := server(t)
	behind, err := url.Parse(at.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	refused := false
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			refused = true
			w.WriteHeader(http.StatusNotImplemented)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer srv.Close()
	at.Endpoint = srv.URL
	own := Owner{"deliver.archive.cold", "00ff"}
	if err := Claim(t.Context(), open(t, at), own); err != nil || !refused {
		t.Errorf("%v, refused: %t", err, refused)
	}
	if owner, _, err := OwnerOf(t.Context(), open(t, at)); owner != own || err != nil {
		t.Errorf("%v, %v", owner, err)
	}
}
