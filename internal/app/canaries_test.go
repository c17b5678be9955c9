package app

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// canaries are secrets that must be seen nowhere. Letters and digits alone stay
// what they are in URLs, JSON and quoted text; what stands around them in the
// workspace does not.
var canaries = []string{
	"zqKeyLiteral7", "zqKeyEnviron7", "zqKeyFile7", "zqKeyWrong7",
	"zqSharedLiteral7", "zqSharedEnviron7", "zqSharedFile7",
	"zqHeaderLiteral7", "zqHeaderEnviron7", "zqHeaderFile7", "zqHeaderBearer7",
	"zqUser7", "zqPassword7", "zqQuery7",
	"zqMasterKey7",
}

// masterKey is the first of SECRETS_KEY, in base64.
var masterKey = "zqMasterKey7" + strings.Repeat("A", 31)

// forms are the ways in which a text may show a secret.
func forms(secret string) []string {
	digits := hex.EncodeToString([]byte(secret))
	all := []string{
		secret, strings.ToLower(secret), strings.ToUpper(secret), url.QueryEscape(secret),
		digits, strings.ToUpper(digits), strings.Trim(fmt.Sprintf("%d", []byte(secret)), "[]"),
	}
	// Base64 of a longer text shows the secret in one of three ways, by where in
	// that text it begins. The digits at its edges depend on the neighbors.
	for shift := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(".", shift) + secret))
		first, last := (shift*8+5)/6, (shift+len(secret))*8/6
		all = append(all, text[first:last], strings.NewReplacer("+", "-", "/", "_").Replace(text[first:last]))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// leaks returns the canaries that a text shows.
func leaks(text string) []string {
	var found []string
	for _, canary := range canaries {
		for _, form := range forms(canary) {
			if strings.Contains(text, form) {
				found = append(found, canary+" as "+form)
			}
		}
	}
	return found
}

// evidence is everything that people other than a secret's owner may read, by
// where they read it.
type evidence struct {
	texts map[string][]string
}

func (e *evidence) add(where, text string) {
	if e.texts == nil {
		e.texts = make(map[string][]string)
	}
	e.texts[where] = append(e.texts[where], text)
}

// check fails the test for every place that shows a secret, and for every place
// named that was not looked at.
func (e *evidence) check(t *testing.T, places ...string) {
	t.Helper()
	for _, place := range places {
		if strings.Join(e.texts[place], "") == "" {
			t.Errorf("there is nothing of %s to look at", place)
		}
	}
	for where, texts := range e.texts {
		for _, text := range texts {
			if found := leaks(text); len(found) > 0 {
				t.Errorf("%s shows %v: %s", where, found, excerpt(text, found[0]))
			}
		}
	}
}

// excerpt is the part of a text around a form that [leaks] found.
func excerpt(text, found string) string {
	_, form, _ := strings.Cut(found, " as ")
	at := strings.Index(text, form)
	const around = 200
	return text[max(0, at-around):min(len(text), at+len(form)+around)]
}

// What finds no leak proves nothing unless it finds one when there is one.
func TestLeaksAreFound(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain":          `level=WARN url="http://h/?token=a%26zqQuery7"`,
		"lower case":     "X-Zqquery7: zqquery7",
		"hexadecimal":    fmt.Sprintf("%x", "=zqQuery7"),
		"bytes":          fmt.Sprintf("%d", []byte("zqQuery7")),
		"JSON":           `{"Value":"\u00e9zqQuery7"}`,
		"base64":         "Basic " + base64.StdEncoding.EncodeToString([]byte("zqQuery7:")),
		"base64 by one":  "Basic " + base64.StdEncoding.EncodeToString([]byte("uzqQuery7")),
		"base64 by two":  "Basic " + base64.StdEncoding.EncodeToString([]byte("u:zqQuery7?")),
		"base64 by more": base64.RawURLEncoding.EncodeToString([]byte("user:pass?zqQuery7??>>")),
	} {
		if found := leaks(text); len(found) == 0 || !strings.HasPrefix(found[0], "zqQuery7") {
			t.Errorf("%s: found %v in %s", name, found, text)
		}
	}
	if found := leaks("level=WARN endpoint=1 detail=[redacted] zqQuery zqUser zq 7"); len(found) > 0 {
		t.Errorf("found %v where there is nothing", found)
	}
}
