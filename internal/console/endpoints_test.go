package console

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/webhook-sink/endpoints"
)

// TestHowEndpointsFare is on the page of their destination, and what there is to say without a
// sink.
func TestHowEndpointsFare(t *testing.T) {
	t.Parallel()
	page := look(t, newConsole(t, nil), Path+"/destination?id=crm")
	for _, want := range []string{"<strong>down</strong>: status_5xx (endpoint answered 503)", ">1,204<", ">1,180<", ">12 ms<", ">1,900 ms<"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if page := look(t, newConsole(t, func(set *Settings) { set.Endpoints = nil }), Path+"/destination?id=crm"); !strings.Contains(page, "No webhook sink runs in this process") {
		t.Errorf("without a sink the page shows\n%s", page)
	}
}

// TestRowsOfEndpoints: when one is asked next, and what is not known.
func TestRowsOfEndpoints(t *testing.T) {
	t.Parallel()
	down := endpoints.Endpoint{URL: "u", State: endpoints.Down, Why: "timeout", Next: noon.Add(time.Minute)}
	for name, c := range map[string]struct {
		of   endpoints.Endpoint
		want fareRow
	}{
		"never asked":   {endpoints.Endpoint{URL: "u", State: endpoints.Untried}, fareRow{URL: "u", Is: "not tried", Next: "-", Attempts: "0", Failed: "0", Median: "-", Slow: "-"}},
		"left alone":    {down, fareRow{URL: "u", Is: "down", Why: "timeout", Next: "2026-11-21 12:01:00Z", Attempts: "0", Failed: "0", Median: "-", Slow: "-"}},
		"due for probe": {endpoints.Endpoint{URL: "u", State: endpoints.Down, Why: "timeout", Next: noon}, fareRow{URL: "u", Is: "down", Why: "timeout", Next: "with the next event", Attempts: "0", Failed: "0", Median: "-", Slow: "-"}},
	} {
		if diff := cmp.Diff(c.want, fareRowOf(&c.of, noon)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAnswersToAnEvent are on its page, beside the attempts.
func TestAnswersToAnEvent(t *testing.T) {
	t.Parallel()
	page := look(t, newConsole(t, nil), Path+"/event?id=Signed+Up")
	for _, want := range []string{"answered 503 at 2026-11-21 12:00:01Z, after 1,204 ms", ">Signed Up</pre>", `href="/console/call?at=`, `aria-label="Request to `, "POST "} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if page := look(t, newConsole(t, nil), Path+"/event?id=another"); strings.Contains(page, "answered 503 at") {
		t.Errorf("another event has the answers to it:\n%s", page)
	}
}
