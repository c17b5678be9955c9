package keyring

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

func TestKeysAreReadInEveryForm(t *testing.T) {
	t.Parallel()
	raw := append(bytes.Repeat([]byte{0xfb, 0xff}, KeyBytes/2-1), 7, 9)
	current := func(keys []Key) string { return keys[0].ID }
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
			want = current(r)
		}
		if current(r) != want || len(want) != 2*IDBytes {
			t.Errorf("%s: the key is %s, want %s", name, current(r), want)
		}
	}
	if r, err := Parse(" \n"); r != nil || err != nil {
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

func TestAKeyIsNotShown(t *testing.T) {
	t.Parallel()
	keys, err := Parse(schemas.Secret(strings.Repeat("4b", KeyBytes)))
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		if got := fmt.Sprintf(verb, keys[0]); got != "key "+keys[0].ID {
			t.Errorf("%s: %s", verb, got)
		}
	}
}
