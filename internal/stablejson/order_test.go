package stablejson

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestRankOf(t *testing.T) {
	for key, want := range map[string]uint32{
		"0": 0, "7": 7, "10": 10, "4294967294": 4294967294,
		"4294967295": notIndex, "4294967296": notIndex, "9999999999": notIndex, "10000000000": notIndex,
		"": notIndex, "00": notIndex, "01": notIndex, "-1": notIndex, "+1": notIndex, "1.0": notIndex, "1e3": notIndex,
		"1a": notIndex, "٣": notIndex,
	} {
		if got := rankOf([]byte(key)); got != want {
			t.Errorf("rankOf(%q): got %d, want %d", key, got, want)
		}
	}
}

func TestFingerprintTellsKeysOfAnEventApart(t *testing.T) {
	keys := strings.Fields(`type event userId anonymousId messageId timestamp context integrations properties traits
		library name version ip userAgent locale page path referrer title url search currency coupon gift products
		productId price quantity a b c id os app ad am`)
	seen := map[uint32]string{}
	for _, key := range keys {
		value := fingerprint([]byte(key))
		if other, ok := seen[value]; ok {
			t.Errorf("%s and %s have the same fingerprint", key, other)
		}
		seen[value] = key
	}
}

// Arranging must not depend on what fingerprints are: with all of them equal it
// gives what it gives otherwise.
func TestArrangeWithFingerprintsThatCollide(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		text, members := randomMembers(random, random.IntN(80))
		blind := bytes.Clone(text)
		alike := make([]member, len(members))
		for i, m := range members {
			m.print = 7
			alike[i] = m
		}
		if got, want := arranged(blind, alike), arranged(text, members); got != want {
			t.Fatalf("arranged(%s): got %t, want %t", text, got, want)
		}
		got := rewrite(blind, 0, arrange(blind, alike))
		want := rewrite(text, 0, arrange(text, members))
		if !bytes.Equal(got, want) {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

// What was arranged is arranged, and what is arranged comes out as it was.
func TestArrangeSettles(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	untouched := 0
	for range 5_000 {
		text, members := randomMembers(random, random.IntN(12))
		before := bytes.Clone(text)
		already := arranged(text, members)
		members = arrange(text, members)
		if !arranged(text, members) {
			t.Fatalf("%s: not arranged after arrange", before)
		}
		if already {
			untouched++
			if got := rewrite(text, 0, members); !bytes.Equal(got, before) {
				t.Fatalf("%s was arranged, and became %s", before, got)
			}
		}
	}
	if untouched == 0 {
		t.Error("no text was arranged from the start: half of the test did not run")
	}
}

// randomMembers returns text with n members, keys from few names so that they
// repeat, in an order that may or may not be the stable one.
func randomMembers(random *rand.Rand, n int) ([]byte, []member) {
	var text []byte
	members := make([]member, 0, n)
	for i := range n {
		start := len(text)
		text = strconv.AppendQuote(text, []string{"", "k"}[random.IntN(2)]+strconv.Itoa(random.IntN(1+n)))
		colon := len(text)
		text = strconv.AppendInt(append(text, ':'), int64(i), 10)
		members = append(members, newMember(text, start, colon))
		text = append(text, ',')
	}
	return text, members
}
