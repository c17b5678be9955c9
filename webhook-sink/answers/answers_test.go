package answers

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
)

// receiving is a destination with so many endpoints.
func receiving(id string, endpoints int) *workspace.Destination {
	d := &workspace.Destination{ID: id, Type: workspace.TypeWebhooks}
	for i := range endpoints {
		d.Endpoints = append(d.Endpoints, workspace.Endpoint{URL: fmt.Sprintf("https://user:zqPassword@%s-%d.example.com/?zqQuery", id, i)})
	}
	return d
}

// held is what a book should hold of one endpoint.
type held struct {
	of place
	Answer
}

// TestABookKeepsTheLatest goes through many answers, and holds the book against a list of all
// of them: of each endpoint the last twenty, in all no more bytes than there may be, and what
// is gone is older than what is there.
func TestABookKeepsTheLatest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int{0, overhead, 20_000, 100_000, 1 << 30} {
		b := New(most)
		destinations := []*workspace.Destination{receiving("a", 1), receiving("b", 5), receiving("c", 2)}
		var all []held
		for i := range 2000 {
			d := destinations[rng.IntN(len(destinations))]
			e := d.Endpoints[rng.IntN(len(d.Endpoints))]
			a := Answer{At: time.Unix(int64(i), 0), MessageID: fmt.Sprintf("m%d", i), Status: 500, Body: strings.Repeat("x", rng.IntN(1025))}
			b.Keep(d.ID, e.Fingerprint(), a)
			all = kept20(append(all, held{place{d.ID, e.Fingerprint()}, a}))
			for bytesOf(all) > most {
				all = all[1:]
			}
			if b.bytes != bytesOf(all) || b.all.Len() != len(all) {
				t.Fatalf("with %d bytes: %d answers of %d bytes after %d, want %d of %d", most, b.all.Len(), b.bytes, i, len(all), bytesOf(all))
			}
		}
		for _, d := range destinations {
			for i, got := range b.Of(d) {
				of := place{d.ID, d.Endpoints[i].Fingerprint()}
				want := Endpoint{Position: i + 1, URL: fmt.Sprintf("https://%s-%d.example.com/", d.ID, i), Answers: []Answer{}}
				for j := range all {
					if one := all[len(all)-1-j]; one.of == of {
						want.Answers = append(want.Answers, one.Answer)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("with %d bytes (-want +got):\n%s", most, diff)
				}
			}
		}
		if most == 1<<30 && b.all.Len() != 8*PerEndpoint {
			t.Errorf("%d answers are kept of 8 endpoints", b.all.Len())
		}
	}
}

// kept20 leaves out the oldest answer of the endpoint that got the last, if it has too many.
func kept20(all []held) []held {
	last, n, oldest := all[len(all)-1].of, 0, -1
	for i, one := range all {
		if one.of == last {
			n++
			if oldest < 0 {
				oldest = i
			}
		}
	}
	if n > PerEndpoint {
		return append(all[:oldest:oldest], all[oldest+1:]...)
	}
	return all
}

func bytesOf(all []held) (n int) {
	for i := range all {
		n += all[i].bytes()
	}
	return n
}

func TestThePage(t *testing.T) {
	t.Parallel()
	d := receiving("crm", 2)
	live := workspace.NewLive(workspace.NewSnapshot(nil, []workspace.Destination{*d}))
	book := New(MostBytes)
	said := Answer{At: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), MessageID: "m1", Status: 503, MS: 17, Body: `<b>"é` + "\x00"}
	book.Keep("crm", d.Endpoints[1].Fingerprint(), said)
	for _, test := range []struct {
		book           *Book
		method, target string
		status         int
		body           string
	}{
		{book, http.MethodGet, "?destination=crm", 200, "zqNothing"},
		{book, http.MethodGet, "?destination=nobody", 404, "not_found"},
		{book, http.MethodGet, "", 400, "invalid_request"},
		{book, http.MethodPost, "?destination=crm", 405, "method_not_allowed"},
		{nil, http.MethodGet, "?destination=crm", 404, "WEBHOOK_SINK_KEEP_ANSWERS"},
	} {
		w := httptest.NewRecorder()
		test.book.Handler(live).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), test.method, Page().Path+test.target, nil))
		if w.Code != test.status || test.status != 200 && !strings.Contains(w.Body.String(), test.body) || strings.Contains(w.Body.String(), "zq") {
			t.Errorf("%s %s was answered %d %s", test.method, test.target, w.Code, w.Body)
		}
		if test.status != 200 {
			continue
		}
		var got found
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		want := found{[]Endpoint{{1, "https://crm-0.example.com/", []Answer{}}, {2, "https://crm-1.example.com/", []Answer{said}}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// BenchmarkKeep is what an answer costs beside the request that it ends.
func BenchmarkKeep(b *testing.B) {
	book := New(MostBytes)
	body := strings.Repeat("x", 1024)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		book.Keep("crm", uint64(i%1000), Answer{Status: 500, Body: body})
	}
}
