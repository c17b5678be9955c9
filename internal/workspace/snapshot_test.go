package workspace_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
)

// mixed has enabled and disabled sources and destinations.
func mixed() *workspace.Snapshot {
	return workspace.NewSnapshot(
		[]workspace.Source{
			{ID: "web", WriteKeyHash: workspace.HashWriteKey("wk_web"), Enabled: true},
			{ID: "off", WriteKeyHash: workspace.HashWriteKey("wk_off")},
			{ID: "app", WriteKeyHash: workspace.HashWriteKey("wk_app"), Enabled: true},
		},
		[]workspace.Destination{
			{ID: "z", Type: workspace.TypeWebhooks, Enabled: true, Sources: []string{"web", "app", "off"}},
			{ID: "a", Type: workspace.TypeWebhooks, Enabled: true, Sources: []string{"web"}},
			{ID: "m", Type: workspace.TypeWebhooks, Sources: []string{"web", "app"}},
		},
	)
}

func TestSourceByKey(t *testing.T) {
	t.Parallel()
	s := mixed()
	for key, want := range map[string]string{"wk_web": "web", "wk_app": "app", "wk_off": "", "wk_none": "", "": ""} {
		source, ok := s.SourceByKey(key)
		if source.ID != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", key, source.ID, ok)
		}
	}
}

func TestBlockedIDs(t *testing.T) {
	t.Parallel()
	s := workspace.NewSnapshot([]workspace.Source{{ID: "web", Identity: &workspace.Identity{Blocked: []string{"Guest"}}}, {ID: "app"}}, nil)
	for source, want := range map[string]bool{"web": true, "app": false, "none": false} {
		if ids := s.BlockedIDs(source); ids.Blocks([]byte("guest")) != want || !ids.Blocks([]byte("null")) {
			t.Errorf("%s: blocks guest %v, null %v", source, ids.Blocks([]byte("guest")), ids.Blocks([]byte("null")))
		}
	}
}

func TestListeners(t *testing.T) {
	t.Parallel()
	s := mixed()
	for source, want := range map[string][]string{"web": {"a", "z"}, "app": {"z"}, "off": nil, "none": nil} {
		var got []string
		for _, d := range s.Listeners(source) {
			got = append(got, d.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", source, diff)
		}
	}
}

// TestListenersAreThoseConnected holds the precomputed lists against the rule.
func TestListenersAreThoseConnected(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var sources []workspace.Source
		var destinations []workspace.Destination
		for i := range random.IntN(6) {
			sources = append(sources, workspace.Source{ID: "s" + strconv.Itoa(i), WriteKeyHash: workspace.HashWriteKey(strconv.Itoa(i)), Enabled: random.IntN(3) > 0})
		}
		for i := range random.IntN(6) {
			d := workspace.Destination{ID: "d" + strconv.Itoa(i), Enabled: random.IntN(3) > 0}
			for _, source := range sources {
				if random.IntN(2) == 0 {
					d.Sources = append(d.Sources, source.ID)
				}
			}
			destinations = append(destinations, d)
		}
		s := workspace.NewSnapshot(sources, destinations)
		for _, source := range s.Sources() {
			for _, d := range s.Destinations() {
				listens := source.Enabled && d.Enabled && d.Connected(source.ID)
				if got := slices.Contains(s.Listeners(source.ID), d); got != listens {
					t.Fatalf("source %+v, destination %+v: listens %v", source, d, got)
				}
			}
		}
	}
}

func TestLookUpByID(t *testing.T) {
	t.Parallel()
	s := mixed()
	if source, ok := s.Source("off"); !ok || source.ID != "off" {
		t.Errorf("Source: %+v, %v", source, ok)
	}
	if d, ok := s.Destination("m"); !ok || d.ID != "m" {
		t.Errorf("Destination: %+v, %v", d, ok)
	}
	_, source := s.Source("none")
	_, destination := s.Destination("none")
	if source || destination {
		t.Error("what does not exist was found")
	}
	if diff := cmp.Diff([]string{"a", "m", "z"}, wstest.IDs(s)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestSnapshotKeepsNothingOfItsArguments(t *testing.T) {
	t.Parallel()
	destinations := []workspace.Destination{{ID: "a", Sources: []string{"web"}, Endpoints: []workspace.Endpoint{{URL: "http://a", Headers: []workspace.Header{{Name: "X", Value: "1"}}}}}}
	s := workspace.NewSnapshot(nil, destinations)
	destinations[0].Sources[0] = "changed"
	destinations[0].Endpoints[0].Headers[0].Name = "changed"
	destinations[0].Endpoints[0].URL = "changed"
	want := workspace.Destination{ID: "a", Sources: []string{"web"}, Endpoints: []workspace.Endpoint{{URL: "http://a", Headers: []workspace.Header{{Name: "X", Value: "1"}}}}}
	wstest.Equal(t, s, workspace.NewSnapshot(nil, []workspace.Destination{want}))
}

// TestFingerprint pins one value: retries written by one version are read by
// the next.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	e := workspace.Endpoint{URL: "https://crm.example.com/hooks"}
	if got, want := e.Fingerprint(), uint64(0x49dc19e49302c5a4); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
	if (workspace.Endpoint{URL: e.URL, Headers: []workspace.Header{{Name: "X", Value: "1"}}}).Fingerprint() != e.Fingerprint() {
		t.Error("it depends on headers")
	}
	if (workspace.Endpoint{URL: e.URL + "/"}).Fingerprint() == e.Fingerprint() {
		t.Error("it does not depend on the URL")
	}
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	s := mixed()
	for name, f := range map[string]func(){
		"Listeners":            func() { s.Listeners("web") },
		"SourceByKey":          func() { s.SourceByKey("wk_web") },
		"SourceByKey, unknown": func() { s.SourceByKey("wk_unknown_and_rather_longer_than_thirty_two_bytes") },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
