package console

import (
	"html"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/anabranch/anabranch/internal/terminal"
)

// FuzzNext: wherever a login is told to lead, a browser stays on the console.
func FuzzNext(f *testing.F) {
	for _, wanted := range []string{"", Path + "/", "//evil.example/console/", "/console/..//evil.example", "https:/console/", "/console/\\x"} {
		f.Add(wanted)
	}
	base, err := url.Parse("http://localhost:8081" + loginPath)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, wanted string) {
		leads, err := base.Parse(next(wanted))
		if err != nil || leads.Host != base.Host || leads.Scheme != base.Scheme || !strings.HasPrefix(leads.Path, Path+"/") || strings.Contains(leads.Path, "..") && !strings.Contains(wanted, "..") {
			t.Errorf("%q leads to %v, %v", wanted, leads, err)
		}
	})
}

// FuzzExactValue: a field holds what it did, and is one attribute whatever that is.
func FuzzExactValue(f *testing.F) {
	for _, text := range []string{"", "a", "\"><script>", "\u202e", "&amp;", "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := string(exactValue(text))
		inside := strings.TrimSuffix(strings.TrimPrefix(got, `value="`), `"`)
		if strings.ContainsAny(inside, "\"<>'`") {
			t.Errorf("%q is written as %s", text, got)
		}
		plain := !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' && c < 0xa0 })
		if plain && utf8.ValidString(text) && html.UnescapeString(inside) != text {
			t.Errorf("%q is read as %q", text, html.UnescapeString(inside))
		}
	})
}

// FuzzRedriveOf: what the form of a plan holds means what the plan does.
func FuzzRedriveOf(f *testing.F) {
	for _, query := range []string{"", "id=1-704&again=1h", "destination=crm&reason=timeout&since=168h", "from=2026-11-20T12:00:00.123456Z&rate=7"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		form, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		of, err := redriveOf(form, noon)
		if err != nil {
			return
		}
		sent, err := url.ParseQuery(of.query())
		if err != nil {
			t.Fatal(err)
		}
		of.Rate = usualRate
		if again, err := redriveOf(sent, noon.Add(time.Minute)); err != nil || again != of {
			t.Errorf("%q means %+v, and its form %+v, %v", query, of, again, err)
		}
	})
}

// FuzzEvent: whatever is shown of a call, a browser reads it as one event with that text.
func FuzzEvent(f *testing.F) {
	for _, text := range []string{"", "a", "a\n\nevent: over\n", "a\r\rdata: b", "\u2028\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shown := string(terminal.AppendPrintable(nil, []byte(text)))
		head, rest, _ := strings.Cut(string(event(nil, "calls", []byte(shown))), "\n")
		lines, end := strings.CutSuffix(rest, "\n\n")
		if head != "event: calls" || !end || strings.ContainsAny(lines, "\r") {
			t.Fatalf("%q is sent as %q and %q", text, head, rest)
		}
		var read []string
		for line := range strings.SplitSeq(lines, "\n") {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				t.Fatalf("%q is sent with the line %q", text, line)
			}
			read = append(read, data)
		}
		if got := strings.Join(read, "\n"); got != shown {
			t.Errorf("%q is read as %q", shown, got)
		}
	})
}
