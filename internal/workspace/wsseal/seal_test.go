package wsseal

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/schemas"
)

var at = workspace.Place{Destination: "crm", URL: "https://a.example.com/", Header: "X-Token"}

func TestASealedSecretStaysInItsPlace(t *testing.T) {
	t.Parallel()
	r := ring(t, 1)
	secret := r.seal(at, "s3cret")
	if r.open(at, secret) != "s3cret" {
		t.Error("not opened in its place")
	}
	for name, other := range map[string]workspace.Place{
		"another destination": {Destination: "erp", URL: at.URL, Header: at.Header},
		"another URL":         {Destination: at.Destination, URL: "https://evil.example.com/", Header: at.Header},
		"another header":      {Destination: at.Destination, URL: at.URL, Header: "X-Other"},
		"the shared secret":   {Destination: at.Destination},
		"a shifted border":    {Destination: at.Destination, URL: at.URL + "X", Header: at.Header[1:]},
	} {
		if got := r.open(other, secret); got != secret {
			t.Errorf("%s: opened", name)
		}
	}
}

func TestWhatCannotBeOpenedStaysSealed(t *testing.T) {
	t.Parallel()
	r := ring(t, 1)
	secret := r.seal(at, "s3cret")
	form, _ := secret.Sealed()
	data, err := encoding.DecodeString(form[strings.LastIndex(form, ".")+1:])
	if err != nil {
		t.Fatal(err)
	}
	id := r.Current()
	damaged := map[string]schemas.Secret{
		"not ours":           schemas.SealedSecret("rot13.00000000.AAAA"),
		"empty":              schemas.SealedSecret(""),
		"an id of another":   schemas.SealedSecret(sealed{ring(t, 2).Current(), data}.String()),
		"standard encoding":  schemas.SealedSecret(algorithm + "." + id + "." + base64.StdEncoding.EncodeToString(data)),
		"nothing in it":      schemas.SealedSecret(sealed{id, data[:nonceBytes+tagBytes]}.String()),
		"of another's ring":  ring(t, 2).seal(at, "s3cret"),
		"a repeated segment": schemas.SealedSecret(form + "." + form),
	}
	for i := range data {
		damaged[fmt.Sprintf("cut at %d", i)] = schemas.SealedSecret(sealed{id, data[:i]}.String())
		flipped := bytes.Clone(data)
		flipped[i] ^= 1
		damaged[fmt.Sprintf("changed at %d", i)] = schemas.SealedSecret(sealed{id, flipped}.String())
	}
	for name, s := range damaged {
		if got := r.open(at, s); got != s {
			t.Errorf("%s: opened", name)
		}
	}
	var none *Ring
	if s := none.Open(snapshotOf(secret)); !s.Destinations()[0].Sealed() {
		t.Error("opened without a key")
	}
}

// snapshotOf returns a workspace with a header at [at].
func snapshotOf(value schemas.Secret) *workspace.Snapshot {
	return workspace.NewSnapshot(nil, []workspace.Destination{{
		ID: at.Destination, Endpoints: []workspace.Endpoint{{URL: at.URL, Headers: []workspace.Header{{Name: at.Header, Value: value}}}},
	}})
}

func TestRotation(t *testing.T) {
	t.Parallel()
	before, during, after := ring(t, 1), ring(t, 2, 1), ring(t, 2)
	old := before.Seal(snapshotOf("s3cret"), snapshotOf("s3cret"))
	if during.Open(old).Destinations()[0].Sealed() || !after.Open(old).Destinations()[0].Sealed() {
		t.Error("the old key opens in the list alone")
	}
	renewed := during.Seal(snapshotOf("s3cret"), old)
	for place, s := range renewed.Destinations()[0].Secrets() {
		if KeyOf(s) != after.Current() || after.open(place, s) != "s3cret" {
			t.Errorf("sealed with %s, want %s", KeyOf(s), after.Current())
		}
	}
}

// TestWhatDidNotChangeKeepsItsForm, over workspaces that have much in common.
func TestWhatDidNotChangeKeepsItsForm(t *testing.T) {
	t.Parallel()
	r := ring(t, 1, 2)
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		first, second := wstest.Random(random), wstest.Random(random)
		before := r.Seal(first, workspace.NewSnapshot(nil, nil))
		wstest.Equal(t, r.Open(before), first)
		after := r.Seal(second, before)
		wstest.Equal(t, r.Open(after), second)
		for _, d := range after.Destinations() {
			old, said := make(map[workspace.Place]schemas.Secret), make(map[workspace.Place]schemas.Secret)
			if was, ok := before.Destination(d.ID); ok {
				old = was.Secrets()
			}
			if was, ok := first.Destination(d.ID); ok {
				said = was.Secrets()
			}
			for place, s := range d.Secrets() {
				if _, is := s.Sealed(); !is {
					t.Fatalf("seed %d: in the clear: %v", seed, place)
				}
				if same := said[place] == r.open(place, s); same != (old[place] == s) {
					t.Errorf("seed %d: %v says the same: %t, has the same form: %t", seed, place, same, old[place] == s)
				}
			}
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	r := ring(b, 1)
	s := r.Seal(snapshotOf("s3cret"), workspace.NewSnapshot(nil, nil))
	b.ReportAllocs()
	for b.Loop() {
		r.Open(s)
	}
}
