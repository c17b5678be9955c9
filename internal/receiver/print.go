package receiver

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"
	"unicode"
)

const (
	// clock is UTC, as the time stamps in the bodies are.
	clock = "15:04:05.000Z"
	// maxWord bounds what a head line shows of a value; all of it is below.
	maxWord = 64
	// maxRaw bounds what is shown of a body that is not JSON.
	maxRaw = 2048
)

// delivery is one request as it is printed.
type delivery struct {
	at   time.Time
	body []byte
	sign signature
}

// summary is what a head line tells of a delivery (spec.md, Webhook delivery
// bodies). An alias has keys of its own for its two ids.
type summary struct {
	Type        string `json:"type"`
	UserID      string `json:"userId"`
	AliasUserID string `json:"User ID"`
	PreviousID  string `json:"Previous ID"`
	AnonymousID string `json:"anonymousId"`
	GroupID     string `json:"groupId"`
	Event       string `json:"event"`
	Name        string `json:"name"`
}

// append writes a head line and the body below it.
func (d *delivery) append(dst []byte, p palette) []byte {
	dst = p.dim(dst, d.at.UTC().Format(clock))
	if !json.Valid(d.body) {
		dst = p.bad(append(dst, "  "...), "not JSON")
		dst = d.appendSignature(dst, p)
		return append(appendRaw(append(dst, '\n'), d.body), "\n\n"...)
	}
	var s summary
	// In valid JSON the only error is a member of another type than a delivery's,
	// and that leaves its field empty and fills the rest.
	_ = json.Unmarshal(d.body, &s)
	dst = p.bold(append(dst, "  "...), word(cmp.Or(s.Type, "untyped")))
	if name := cmp.Or(s.Event, s.Name); name != "" {
		dst = append(append(dst, ' '), quoted(name)...)
	}
	dst = appendField(dst, "user", cmp.Or(s.UserID, s.AliasUserID))
	dst = appendField(dst, "previous", s.PreviousID)
	dst = appendField(dst, "anonymous", s.AnonymousID)
	dst = appendField(dst, "group", s.GroupID)
	dst = d.appendSignature(dst, p)
	return append(appendJSON(append(dst, '\n'), d.body), "\n\n"...)
}

func (d *delivery) appendSignature(dst []byte, p palette) []byte {
	dst = append(dst, "  signature "...)
	switch d.sign.verdict {
	case signatureOK:
		return p.good(dst, string(signatureOK))
	case signatureBad:
		return p.bad(dst, string(signatureBad)+": "+d.sign.reason)
	case signatureNone, signatureUnchecked:
	}
	return append(dst, d.sign.verdict...)
}

func appendField(dst []byte, label, value string) []byte {
	if value == "" {
		return dst
	}
	return append(append(dst, "  "+label+" "...), word(value)...)
}

// word returns text bare when it reads as one word, quoted otherwise.
func word(text string) string {
	for _, r := range text {
		if r == '"' || r == '\\' || r == unicode.ReplacementChar || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return quoted(text)
		}
	}
	return shorten(text, maxWord)
}

// quoted returns text in quotes, with all escaped that a terminal would act on.
func quoted(text string) string { return strconv.Quote(shorten(text, maxWord)) }

func shorten(text string, limit int) string {
	runes := 0
	for i := range text {
		if runes == limit {
			return text[:i] + "…"
		}
		runes++
	}
	return text
}

func appendRaw(dst, body []byte) []byte {
	shown := body[:min(len(body), maxRaw)]
	dst = strconv.AppendQuote(append(dst, "  "...), string(shown))
	if rest := len(body) - len(shown); rest > 0 {
		dst = append(dst, " and "+strconv.Itoa(rest)+" bytes more"...)
	}
	return dst
}

// palette is whether the terminal shows colours.
type palette bool

func (p palette) bold(dst []byte, text string) []byte { return p.paint(dst, "1", text) }
func (p palette) dim(dst []byte, text string) []byte  { return p.paint(dst, "2", text) }
func (p palette) good(dst []byte, text string) []byte { return p.paint(dst, "32", text) }
func (p palette) bad(dst []byte, text string) []byte  { return p.paint(dst, "1;31", text) }

// paint writes text between an ANSI "select graphic rendition" and its reset.
func (p palette) paint(dst []byte, code, text string) []byte {
	if !p {
		return append(dst, text...)
	}
	return append(dst, "\x1b["+code+"m"+text+"\x1b[0m"...)
}
