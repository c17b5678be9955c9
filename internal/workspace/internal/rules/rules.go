// Package rules says what the texts of a workspace may hold. A declaration names
// a rule, and a file, a record of the topic and the published schema are held to
// it: what is written to the topic by other means can't replace a signature either.
package rules

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anabranch/anabranch/schemas"
)

// MaxWriteKeyBytes is the length that a write key may have at most.
const MaxWriteKeyBytes = 256

// Bounds that keep a destination's record well under the megabyte that brokers
// take by default, with all endpoints, headers and escapes at their largest.
const (
	maxNameBytes   = 256 // also of a header's name, or of what a tracking plan names
	maxSecretBytes = 4096
	maxURLBytes    = 2048
)

const wantURL = "an http or https URL with a host"

// Rule is what a text may be.
type Rule struct {
	Want  string                   // what is expected where no text stands; may be empty
	Check func(text string) string // what it expected instead; "" when it has no objection
	// Show returns a refused text as problems may show it. Nil: as it is. With it, an
	// accepted text is not shown either.
	Show func(text string) string

	// What a schema can say of it, each of which allows all that Check allows.
	Words   []string // no other is allowed
	Pattern string   // in what RE2 and ECMAScript have in common
	Never   string   // a pattern of what is refused
	Most    int      // bytes, so that there are at most as many characters
}

// Named returns the rule that a declaration names; false without one.
func Named(name string) (Rule, bool) {
	switch name {
	case "id":
		return Rule{Want: checkID(""), Check: checkID, Pattern: "^[a-z0-9-]+$", Most: schemas.MaxIDBytes}, true
	case "sourceID":
		return Rule{Want: checkID(""), Check: checkSourceID, Pattern: "^[a-z0-9-]+$", Never: "^personas$", Most: schemas.MaxIDBytes}, true
	case "name":
		return Rule{Want: "text", Check: checkName, Most: maxNameBytes}, true
	case "writeKey":
		return Rule{Check: checkWriteKey, Pattern: "^[!-9;-~]+$", Most: MaxWriteKeyBytes}, true
	case "secret":
		return Rule{Check: checkSecret, Most: maxSecretBytes}, true
	case "url":
		return Rule{Want: wantURL, Check: checkURL, Show: shownURL, Pattern: `^[Hh][Tt][Tt][Pp][Ss]?://[!-"$-.0-9;->@-~][!-"$-~]*$`, Most: maxURLBytes}, true
	case "headerName":
		return Rule{Want: "a header name", Check: checkHeaderName, Pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", Never: reservedPattern(), Most: maxNameBytes}, true
	case "headerValue":
		return Rule{Check: checkHeaderValue, Never: `[\x00-\x08\x0a-\x1f\x7f]`, Most: maxSecretBytes}, true
	case "topic":
		return Rule{Want: wantTopic, Check: checkTopic, Pattern: "^[A-Za-z0-9._-]+$", Never: `^(deliver\.|webhook-retry\.|anabranch-|personas-|__)`, Most: schemas.MaxTopicBytes}, true
	case "size":
		return Rule{Want: WantSize, Check: checkSize, Pattern: "^[0-9]+(KiB|MiB|GiB)$"}, true
	case "path":
		return Rule{Want: wantPath, Check: checkPath, Most: maxPathBytes, Never: `[\x00-\x1f\x7f]`}, true
	case "bucket":
		return Rule{Want: wantBucket, Check: checkBucket, Pattern: "^[a-z0-9][a-z0-9.-]*[a-z0-9]$", Most: maxBucketBytes}, true
	case "plannedName":
		return Rule{Want: "a name", Check: checkPlannedName, Never: `[\x00-\x1f\x7f]`, Most: maxNameBytes}, true
	}
	return Rule{}, false
}

// OneOf is the rule of a closed set of words.
func OneOf(words ...string) Rule {
	want := strings.Join(words, ", ")
	if len(words) > 1 {
		want = "one of " + want
	}
	check := func(word string) string {
		if slices.Contains(words, word) {
			return ""
		}
		return want
	}
	return Rule{Want: want, Check: check, Words: words}
}

// checkID is for ids that name topics too.
func checkID(id string) string {
	if !schemas.ValidID(id) {
		return "lower-case letters, digits and hyphens, 1 to 64"
	}
	return ""
}

// checkSourceID keeps the id of the built-in source from others.
func checkSourceID(id string) string {
	if id == "personas" {
		return "another id: personas is the built-in source that tells of audiences and traits"
	}
	return checkID(id)
}

// checkName is for what people call a source or destination.
func checkName(name string) string {
	if name == "" || len(name) > maxNameBytes {
		return fmt.Sprintf("1 to %d bytes", maxNameBytes)
	}
	return ""
}

// checkWriteKey refuses what can't be the user name of Basic authentication,
// the way in which most clients send the key.
func checkWriteKey(key string) string {
	if key == "" || len(key) > MaxWriteKeyBytes || strings.Contains(key, ":") || !visibleASCII(key) {
		return fmt.Sprintf("printable ASCII without spaces and colons, 1 to %d", MaxWriteKeyBytes)
	}
	return ""
}

// checkSecret refuses bytes that are not UTF-8: they would not survive the JSON
// of the topic, and signatures would be wrong with nobody knowing why.
func checkSecret(secret string) string {
	if secret == "" || len(secret) > maxSecretBytes || !utf8.ValidString(secret) {
		return fmt.Sprintf("UTF-8 text of 1 to %d bytes", maxSecretBytes)
	}
	return ""
}

// checkURL is for an endpoint's. It asks for ASCII since the URL goes into the
// request line as it is.
func checkURL(text string) string {
	if text == "" || len(text) > maxURLBytes || !visibleASCII(text) {
		return fmt.Sprintf("%s, visible ASCII only (other characters percent-encoded, names as xn--), at most %d bytes", wantURL, maxURLBytes)
	}
	parsed, err := url.Parse(text)
	switch {
	case err != nil, parsed.Scheme != "http" && parsed.Scheme != "https", parsed.Hostname() == "":
		return wantURL
	case strings.Contains(text, "#"):
		return "a URL without a fragment"
	}
	port := parsed.Port()
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
		return "a port from 1 to 65535"
	}
	return ""
}

func visibleASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// shownURL is for URLs that were refused: a misspelt one may be read with its user
// information as path or scheme.
func shownURL(text string) string {
	parsed, err := url.Parse(text)
	if err != nil || parsed.User == nil && strings.Contains(text, "@") {
		return schemas.Secret(text).String()
	}
	return strconv.Quote(SafeURL(text))
}

// SafeURL returns a URL without user information, query and fragment: what logs,
// errors and people's screens may show.
func SafeURL(text string) string {
	parsed, err := url.Parse(text)
	if err != nil {
		return schemas.Secret(text).String() // the error of url.Parse quotes all of it
	}
	parsed.User, parsed.RawQuery, parsed.ForceQuery = nil, "", false
	parsed.Fragment, parsed.RawFragment = "", ""
	return parsed.String()
}

// checkPlannedName is for the name of a planned event, property or trait. A name
// with characters that nobody sees never means what it looks like.
func checkPlannedName(name string) string {
	unseen := func(r rune) bool { return !unicode.IsPrint(r) }
	if name == "" || len(name) > maxNameBytes || !utf8.ValidString(name) || strings.ContainsFunc(name, unseen) {
		return fmt.Sprintf("a name of printable characters, 1 to %d bytes", maxNameBytes)
	}
	return ""
}
