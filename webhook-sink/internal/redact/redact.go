// Package redact takes out of what an endpoint answers the secrets that it was sent: many
// receivers repeat a request that they refuse.
//
// What stands there as it is in the workspace is found, and as it is in JSON, in a URL and in
// Basic authentication. A receiver that turns it into something else can't be kept from that.
//
// # Non-obvious
//
//   - A secret may be cut where an answer is, so how one begins is taken out at the end
//     (TestWhatIsCutInTheMidstOfASecret).
package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Mark stands where a secret was.
var Mark = schemas.Secret("").String()

const (
	// least is how long a text has to be to be taken for a secret: nobody's is shorter, and
	// what a query says elsewhere may be.
	least = 4
	// leastWord is how long a word of a header has to be: "Basic" and "Bearer" are no secrets.
	leastWord = 8
)

// Secrets are those of an endpoint.
type Secrets struct {
	texts    []string // the longest first
	replacer *strings.Replacer
}

// Of returns the secrets that requests to an endpoint are made with.
func Of(shared schemas.Secret, e workspace.Endpoint) *Secrets {
	all := []string{shared.Reveal()}
	for _, h := range e.Headers {
		all = append(all, h.Value.Reveal())
		for word := range strings.FieldsSeq(h.Value.Reveal()) {
			if len(word) >= leastWord {
				all = append(all, word)
			}
		}
	}
	if at, err := url.Parse(e.URL); err == nil {
		all = append(all, ofURL(at)...)
	}
	s := &Secrets{}
	for _, text := range all {
		if len(text) >= least {
			s.texts = append(s.texts, forms(text)...)
		}
	}
	slices.SortFunc(s.texts, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	s.texts = slices.Compact(s.texts)
	pairs := make([]string, 0, 2*len(s.texts))
	for _, text := range s.texts {
		pairs = append(pairs, text, Mark)
	}
	s.replacer = strings.NewReplacer(pairs...)
	return s
}

// ofURL are the parts of a URL that nobody is shown; see [workspace.Endpoint.SafeURL].
func ofURL(at *url.URL) []string {
	all := []string{at.RawQuery}
	for _, values := range at.Query() {
		all = append(all, values...)
	}
	if at.User != nil {
		password, _ := at.User.Password()
		all = append(all, at.User.String(), at.User.Username(), password,
			base64.StdEncoding.EncodeToString([]byte(at.User.Username()+":"+password)))
	}
	return all
}

// forms are the ways in which a text is written.
func forms(text string) []string {
	quoted, _ := json.Marshal(text) // a string always can be
	var plain strings.Builder
	lines := json.NewEncoder(&plain)
	lines.SetEscapeHTML(false)
	_ = lines.Encode(text)
	return []string{
		text, strings.Trim(string(quoted), `"`), strings.Trim(strings.TrimSpace(plain.String()), `"`), url.QueryEscape(text), url.PathEscape(text),
	}
}

// Remove returns a text with a mark in place of each secret, of one that is cut at its end
// too. It is memory of its own.
func (s *Secrets) Remove(text []byte) []byte {
	clean := s.replacer.Replace(string(text))
	if n := s.begun(clean); n > 0 {
		clean = clean[:len(clean)-n] + Mark
	}
	return []byte(clean)
}

// begun is how many bytes at the end of a text begin a secret.
func (s *Secrets) begun(text string) (most int) {
	for _, secret := range s.texts {
		for n := min(len(secret)-1, len(text)); n >= max(least, most+1); n-- {
			if strings.HasSuffix(text, secret[:n]) {
				most = n
			}
		}
	}
	return most
}
