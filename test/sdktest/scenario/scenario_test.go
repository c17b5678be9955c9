package scenario_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

func all(tb testing.TB) []scenario.Call {
	tb.Helper()
	calls, err := scenario.All()
	if err != nil {
		tb.Fatal(err)
	}
	return append(calls, append(scenario.Crowd(3), scenario.Large(2)...)...)
}

// The judge finds the deliveries of a call by its mark.
func TestEveryCallCarriesItsMark(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range all(t) {
		if seen[c.Mark] {
			t.Errorf("two calls are marked %q", c.Mark)
		}
		seen[c.Mark] = true
		var carried any
		switch c.Type {
		case "identify", "group":
			carried = c.Traits["call"]
		case "alias":
			carried = c.PreviousID
		default:
			carried = c.Properties["call"]
		}
		if carried != c.Mark {
			t.Errorf("%s carries %v", c.Mark, carried)
		}
	}
}

// Rule: protocol, "Integrations map".
func TestFilteredSaysWhatTheIntegrationsMapDoes(t *testing.T) {
	for _, c := range all(t) {
		enabled := c.Integrations["All"] != false
		if own, there := c.Integrations["Webhooks"]; there {
			enabled = own != false
		}
		if c.Filtered == enabled {
			t.Errorf("%s: filtered is %t with integrations %v", c.Mark, c.Filtered, c.Integrations)
		}
	}
}

func TestEachTypeHasACallWithEverything(t *testing.T) {
	full := map[string]bool{}
	for _, c := range all(t) {
		if c.UserID != "" && c.MessageID != "" && c.Timestamp != "" && len(c.Context) > 0 && len(c.Integrations) > 0 {
			full[c.Type] = true
		}
	}
	for _, of := range []string{"identify", "track", "page", "screen", "group", "alias"} {
		if !full[of] {
			t.Errorf("no %s is given all that it may be given", of)
		}
	}
}

func TestLimitsTakeOutWhatAnSDKCannotSay(t *testing.T) {
	limits := scenario.Limits{
		Types: []string{"screen"}, Calls: []string{"track-null"},
		Fields: []string{"messageId", "timestamp", "anonymousId", "alias.context", "alias.integrations", "page.name", "page.category"},
	}
	var want []scenario.Call
	for _, c := range all(t) {
		if c.Type == "screen" || c.Mark == "track-null" {
			continue
		}
		c.MessageID, c.Timestamp, c.AnonymousID = "", "", ""
		switch c.Type {
		case "alias":
			c.Context, c.Integrations = nil, nil
		case "page":
			c.Name, c.Category = "", ""
		}
		want = append(want, c)
	}
	calls := all(t)
	if diff := cmp.Diff(want, limits.Apply(calls)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(all(t), calls); diff != "" {
		t.Errorf("Apply changed the calls it was given (-want +got):\n%s", diff)
	}
}

func TestNoLimitsLeaveEverything(t *testing.T) {
	if diff := cmp.Diff(all(t), new(scenario.Limits).Apply(all(t))); diff != "" {
		t.Errorf("without limits (-want +got):\n%s", diff)
	}
}

func TestAMisspeltFieldIsNoticed(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a field that does not exist was dropped in silence")
		}
	}()
	limits := scenario.Limits{Fields: []string{"messageID"}}
	limits.Apply(all(t))
}
