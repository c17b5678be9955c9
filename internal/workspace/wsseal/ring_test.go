package wsseal

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

// ring returns keys that are made of bytes; the first one seals.
func ring(tb testing.TB, of ...byte) *Ring {
	tb.Helper()
	texts := make([]string, len(of))
	for i, b := range of {
		texts[i] = base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, KeyBytes))
	}
	r, err := Parse(schemas.Secret(strings.Join(texts, ",")))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func TestKeysAreReadInEveryForm(t *testing.T) {
	t.Parallel()
	raw := append(bytes.Repeat([]byte{0xfb, 0xff}, KeyBytes/2-1), 7, 9)
	want := ""
	for name, text := range map[string]string{
		"base64":          base64.StdEncoding.EncodeToString(raw),
		"without padding": base64.RawStdEncoding.EncodeToString(raw),
		"of URLs":         base64.URLEncoding.EncodeToString(raw),
		"digits":          hex.EncodeToString(raw),
		"capital digits":  strings.ToUpper(hex.EncodeToString(raw)),
		"in a file":       base64.StdEncoding.EncodeToString(raw) + "\r\n",
		"of a list":       " " + base64.StdEncoding.EncodeToString(raw) + ", " + hex.EncodeToString(make([]byte, KeyBytes-1)) + "01\n",
	} {
		r, err := Parse(schemas.Secret(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want == "" {
			want = r.Current()
		}
		if r.Current() != want || len(want) != 2*idBytes {
			t.Errorf("%s: the key is %s, want %s", name, r.Current(), want)
		}
	}
	if r, err := Parse(" \n"); r != nil || err != nil || r.Current() != "" {
		t.Errorf("of nothing: %v, %v", r, err)
	}
}

func TestKeysThatAreNone(t *testing.T) {
	t.Parallel()
	good := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("K"), KeyBytes))
	const canary = "correct-horse-battery"
	for text, want := range map[string]string{
		canary:                           "key 1 of 1: expected 32 bytes",
		good + "," + canary:              "key 2 of 2: expected 32 bytes",
		good[:30]:                        "found 22 bytes",
		hex.EncodeToString([]byte("ab")): "found 2 bytes",
		good + " " + good:                "key 2 of 2 is there twice",
		strings.Repeat("0", 64):          "found zeros",
		strings.Repeat(good+",", 17):     "17 keys: expected at most 16",
	} {
		_, err := Parse(schemas.Secret(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), good[:8]) {
			t.Errorf("%q: %v, want %q and no key", text, err, want)
		}
	}
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
		if ok && (s.String() != text || len(s.key) != 2*idBytes || len(s.data) <= nonceBytes+tagBytes) {
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
