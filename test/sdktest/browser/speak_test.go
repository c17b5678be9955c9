package browser

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/sdktest/driver"
	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

// with has the test binary speak in the place of the browser.
func with(t *testing.T, part string, api http.HandlerFunc) error {
	t.Helper()
	t.Setenv(partVariable, part)
	server := httptest.NewServer(api)
	defer server.Close()
	return speak(t.Context(), os.Args[0], "@vendor/sdk", &driver.Job{
		Folder: t.TempDir(), Endpoint: server.URL, WriteKey: "k", Run: driver.Run{Mode: driver.Each}, Log: io.Discard,
		Calls: []scenario.Call{
			{Mark: "a", Type: "identify", AnonymousID: "x"},
			{Mark: "b", Type: "track", UserID: "u"},
			{Mark: "c", Type: "track", UserID: "u"},
			{Mark: "d", Type: "group", UserID: "u"},
			{Mark: "e", Type: "page", UserID: "u"},
		},
	})
}

func TestSpeak(t *testing.T) {
	var paths []string
	err := with(t, "visits", func(_ http.ResponseWriter, r *http.Request) { paths = append(paths, r.URL.Path) })
	if err != nil {
		t.Errorf("speak: %v", err)
	}
	// The anonymous call comes behind those of a user, but not among the last.
	if diff := cmp.Diff([]string{"/v1/track", "/v1/identify", "/v1/m", "/v1/track", "/v1/group", "/v1/page"}, paths); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestSpeakFails(t *testing.T) {
	for part, want := range map[string]string{
		"ends":     "the browser ended by itself: exit status 3",
		"stumbles": "the page: SDK is not defined",
		"objects":  "blocked by CORS policy",
		"visits":   "POST /v1/m was answered with 400",
	} {
		t.Run(part, func(t *testing.T) {
			err := with(t, part, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/m" && part == "visits" {
					w.WriteHeader(http.StatusBadRequest)
				}
			})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("speak: %v, expected %q", err, want)
			}
		})
	}
}

func TestVisitWaitsForTheFarewell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pages{left: make(chan struct{}, 1)}
		p.left <- struct{}{}
		began := time.Now()
		err := visit(t.Context(), &chromium{}, p, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != farewell {
			t.Errorf("visit: %v after %s, expected to give up after %s", err, took, farewell)
		}
	})
}

func TestVisitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the page: no SDK")
	cancel(why)
	err := visit(ctx, &chromium{}, &pages{}, func(context.Context) error { return nil })
	if !errors.Is(err, why) {
		t.Errorf("visit: %v, expected %v", err, why)
	}
}

func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		calls := make([]scenario.Call, random.IntN(12))
		for i := range calls {
			calls[i].Mark = string(rune('a' + i))
			if random.IntN(2) == 0 {
				calls[i].UserID = "u"
			}
		}
		checkOrder(t, calls, order(calls))
	}
}

// checkOrder: the last calls are as they were; before them those of a user come
// first; neither kind is mixed among itself, and the argument is left alone.
func checkOrder(t *testing.T, calls, got []scenario.Call) {
	t.Helper()
	split := max(0, len(calls)-last)
	var want []scenario.Call
	for _, user := range []string{"u", ""} {
		for _, c := range calls[:split] {
			if c.UserID == user {
				want = append(want, c)
			}
		}
	}
	want = slices.Concat(want, calls[split:])
	if diff := cmp.Diff(want, got); len(want)+len(got) > 0 && diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if !slices.IsSortedFunc(calls, func(a, b scenario.Call) int { return strings.Compare(a.Mark, b.Mark) }) {
		t.Error("order has changed its argument")
	}
}
