package wsseal

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/keyring"
	"github.com/anabranch/anabranch/schemas"
)

// ring returns keys that are made of bytes; the first one seals.
func ring(tb testing.TB, of ...byte) *Ring {
	tb.Helper()
	texts := make([]string, len(of))
	for i, b := range of {
		texts[i] = base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, keyring.KeyBytes))
	}
	r, err := Parse(schemas.Secret(strings.Join(texts, ",")))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func TestARingShowsNoKey(t *testing.T) {
	t.Parallel()
	r := ring(t, 'K', 'L')
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		if got := fmt.Sprintf(verb, r); got != "2 keys" {
			t.Errorf("%s: %s", verb, got)
		}
	}
}

// FuzzSealedForm holds the parser to one text for each sealed secret.
func FuzzSealedForm(f *testing.F) {
	form, _ := ring(f, 1).seal(at, "s3cret").Sealed()
	for _, text := range []string{form, form + "A", form + "\n", form[:30], strings.ToUpper(form), "aes256gcm..", "", "aes256gcm.0102030g." + form[19:]} {
		f.Add(text)
	}
	r := ring(f, 1, 2)
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := parse(text)
		if ok && (s.String() != text || len(s.key) != 2*keyring.IDBytes || len(s.data) <= nonceBytes+tagBytes) {
			t.Errorf("%q is read as %q", text, s)
		}
		secret := schemas.SealedSecret(text)
		if ok == (KeyOf(secret) == "unknown") {
			t.Errorf("%q has the key %q", text, KeyOf(secret))
		}
		if opened := r.open(at, secret); text != form && opened != secret {
			t.Errorf("%q was opened", text)
		}
	})
}
