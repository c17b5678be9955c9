package wstopic

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/anabranch/anabranch/internal/keyring"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/internal/workspace/wsseal"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// ring returns keys that are made of bytes.
func ring(tb testing.TB, of ...byte) *wsseal.Ring {
	tb.Helper()
	var texts []string
	for _, b := range of {
		texts = append(texts, hex.EncodeToString(bytes.Repeat([]byte{b}, keyring.KeyBytes)))
	}
	keys, err := wsseal.Parse(schemas.Secret(strings.Join(texts, ",")))
	if err != nil {
		tb.Fatal(err)
	}
	return keys
}

// secretive is a workspace of a destination with secrets of two kinds, and one with none.
func secretive() *workspace.Snapshot {
	plain := *wstest.Of("plain").Destinations()[0]
	crm := *wstest.CRM().Destinations()[0]
	crm.Endpoints = []workspace.Endpoint{{URL: "https://crm.example.com/", Headers: []workspace.Header{{Name: "Authorization", Value: "Bearer " + wstest.Canary}}}}
	return workspace.NewSnapshot(wstest.Of().Sources(), []workspace.Destination{plain, crm})
}

// TestNoRecordHoldsASecret: all bytes of the topic are looked at, keys, values and headers.
func TestNoRecordHoldsASecret(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	p.Keys = ring(t, 1)
	apply(t, p, secretive())
	for _, r := range c.ReadAll(t, schemas.TopicWorkspace, 4) {
		if all := slices.Concat(r.Key, r.Value); bytes.Contains(all, []byte(wstest.Canary)) || len(r.Headers) != 0 {
			t.Errorf("%s holds the secret: %s", r.Key, r.Value)
		}
		if sealed := strings.HasPrefix(string(r.Value), `{"version":2,`); sealed != (string(r.Key) == "destination/crm") {
			t.Errorf("%s: %s", r.Key, r.Value)
		}
	}
	state := read(t, c)
	wstest.Equal(t, p.Keys.Open(state.Snapshot), secretive())
	if crm, _ := state.Snapshot.Destination("crm"); !crm.Sealed() {
		t.Error("who has no key reads the secrets")
	}
}

// TestWhatSealingChanges over the life of a key.
func TestWhatSealingChanges(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	edited := func() *workspace.Snapshot {
		crm := *secretive().Destinations()[0]
		crm.SharedSecret = "another"
		return workspace.NewSnapshot(secretive().Sources(), []workspace.Destination{crm, *secretive().Destinations()[1]})
	}
	for _, step := range []struct {
		what    string
		keys    *wsseal.Ring
		inClear bool
		next    *workspace.Snapshot
		want    string // the changes
		err     string
	}{
		{"at first in the clear", nil, false, secretive(), "+ source website, + destination crm, + destination plain", ""},
		{"the first key", ring(t, 1), false, secretive(), "= destination crm: secrets encrypted with the current key", ""},
		{"once more", ring(t, 1), false, secretive(), "", ""},
		{"another secret", ring(t, 1), false, edited(), "~ destination crm: sharedSecret changed", ""},
		{"a new key", ring(t, 2, 1), false, edited(), "= destination crm: secrets encrypted with the current key", ""},
		{"the old one is gone", ring(t, 2), false, edited(), "", ""},
		{"the key was forgotten", nil, false, edited(), "", "SECRETS_KEY is not set"},
		{"the key was lost", ring(t, 3), false, edited(), "~ destination crm: sharedSecret, endpoints changed", ""},
		{"on purpose", ring(t, 3), true, edited(), "! destination crm: secrets written in the clear", ""},
		{"as before there were keys", nil, false, edited(), "", ""},
		{"sealed again", ring(t, 3), false, edited(), "= destination crm: secrets encrypted with the current key", ""},
		{"nothing is left to protect", nil, false, wstest.Of("plain"), "- destination crm", ""},
	} {
		p.Keys, p.Clear = step.keys, step.inClear
		changes, err := p.Apply(timeout(t), step.next)
		if (err != nil) != (step.err != "") || err != nil && !strings.Contains(err.Error(), step.err) {
			t.Fatalf("%s: %v, want %q", step.what, err, step.err)
		}
		if got := strings.Join(wstest.Lines(changes), ", "); got != step.want {
			t.Errorf("%s: %s, want %s", step.what, got, step.want)
		}
	}
}

// TestOnlyWhoDeliversOpensSecrets: and says of which it can't, while all others are served.
func TestOnlyWhoDeliversOpensSecrets(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		secrets bool
		keys    *wsseal.Ring
		opened  bool
		locked  float64
	}{
		"who has no use for them": {false, ring(t, 1), false, 0},
		"who has the key":         {true, ring(t, 2, 1), true, 0},
		"who has another":         {true, ring(t, 2), false, 1},
		"who has none":            {true, nil, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testkit.Brokers(t)
			p := publisher(t, c)
			p.Keys = ring(t, 1)
			apply(t, p, secretive())
			f, live, out := following(t, c.Options(), func(set *FollowerSettings) { set.Secrets, set.Keys = tt.secrets, tt.keys })
			ready(t, f)
			crm, _ := live.Load().Destination("crm")
			plain, _ := live.Load().Destination("plain")
			if crm.Sealed() == tt.opened || plain.Sealed() {
				t.Errorf("opened: %t", !crm.Sealed())
			}
			if l := live.Load().Listeners("website"); len(l) != 2 || l[0] != crm {
				t.Errorf("listeners are %v", l)
			}
			if got := testutil.ToFloat64(f.metrics.locked); got != tt.locked || (out.Count("can't be decrypted") > 0) != (tt.locked > 0) {
				t.Errorf("%v are locked, and it says:\n%s", got, out)
			}
			if tt.locked > 0 && !strings.Contains(out.String(), ring(t, 1).Current()) {
				t.Errorf("the key is not named:\n%s", out)
			}
		})
	}
}
