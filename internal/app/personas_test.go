package app

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/testkit"
)

// membership has an audience that a user leaves by the passing of time alone.
const membership = `
sources:
  - {id: shop, name: Shop, writeKey: wk_shop}
destinations:
  - {id: mailer, type: webhooks, name: Mailer, sources: [personas], sharedSecret: s3cret, endpoints: [{url: "%s"}]}
audiences:
  - {id: browsing, when: {did: Product Viewed, within: 4s}}
traits:
  - {id: views, take: count, did: Product Viewed}
`

// TestMembersComeAndGo: who is in an audience, and a computed trait, is told at a signed
// webhook once, whether a call or time changes it, and whatever is restarted in between.
func TestMembersComeAndGo(t *testing.T) {
	t.Parallel()
	receiver := testkit.NewReceiver(t)
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, fmt.Sprintf(membership, receiver.URL))
	env := with(environment(t), "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8", "WORKSPACE_FILE", file)
	view := func(r *running, user string) {
		t.Helper()
		if status := r.post(t, "/v1/track", "wk_shop", fmt.Sprintf(`{"userId":%q,"event":"Product Viewed"}`, user)); status != http.StatusOK {
			t.Fatalf("the call was answered %d", status)
		}
	}
	first := start(t, env)
	view(first, "ann")
	receiver.Wait(t, 2)
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}

	second := start(t, env)
	receiver.Wait(t, 3) // time has passed, and nobody did anything
	view(second, "ben")
	receiver.Wait(t, 6)
	view(second, "ann")
	testkit.Until(t, func() bool { return len(told(t, receiver)["ann"]) >= 6 }, "ann to come and go again")

	want := map[string]map[string]int{
		"ann": {"browsing=true": 2, "browsing=false": 2, "views=1": 1, "views=2": 1},
		"ben": {"browsing=true": 1, "browsing=false": 1, "views=1": 1},
	}
	got := make(map[string]map[string]int)
	for user, changes := range told(t, receiver) {
		got[user] = make(map[string]int)
		for _, change := range changes {
			got[user][change]++
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	for _, d := range receiver.Deliveries() {
		if d.Header.Get("X-Signature") == "" {
			t.Error("a delivery is not signed")
		}
	}
}

// told is what a receiver has heard of each user, in order.
func told(t *testing.T, receiver *testkit.Receiver) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for _, d := range receiver.Deliveries() {
		call := d.JSON(t)
		user, _ := call["userId"].(string)
		traits, _ := call["traits"].(map[string]any)
		if call["type"] != "identify" || len(traits) != 1 {
			t.Errorf("received %v", call)
		}
		for key, value := range traits {
			all[user] = append(all[user], fmt.Sprintf("%s=%v", key, value))
		}
	}
	return all
}
