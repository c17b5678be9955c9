package stablejson_test

import (
	"testing"
	"testing/quick"
	"unicode/utf8"

	"github.com/anabranch/anabranch/internal/stablejson"
)

func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  `""`,
		"plain, longer than eight":          `"plain, longer than eight"`,
		"/<>&'\u2028\u2029\x7f":             "\"/<>&'\u2028\u2029\x7f\"",
		"\"\\\b\f\n\r\t":                    `"\"\\\b\f\n\r\t"`,
		"\x00\x01\x0b\x1f":                  `"\u0000\u0001\u000b\u001f"`,
		"é語\U0001F600\uFFFD":                "\"é語\U0001F600\uFFFD\"",
		"\xff\xfe":                          "\"\uFFFD\uFFFD\"",
		"\xe2\x82":                          "\"\uFFFD\"",
		"\xf0\x9f\x98x":                     "\"\uFFFDx\"",
		"\xed\xa0\x80":                      "\"\uFFFD\uFFFD\uFFFD\"",
		"\xf0\x80\x80":                      "\"\uFFFD\uFFFD\uFFFD\"",
		"a\xc3(b":                           "\"a\uFFFD(b\"",
		"\xe0\x80\x80\xf4\x90\x80\x80\xf1é": "\"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDé\"",
	} {
		if got := string(stablejson.AppendString([]byte("["), in)); got != "["+want {
			t.Errorf("AppendString(%q): got %s, want [%s", in, got, want)
		}
	}
}

func TestTextReversesAppendString(t *testing.T) {
	reverses := func(s string) bool {
		text, ok := stablejson.Text(stablejson.AppendString(nil, s))
		return ok && text == s
	}
	if err := quick.Check(reverses, &quick.Config{MaxCount: 10_000}); err != nil {
		t.Error(err)
	}
	for c := range rune(0x300) {
		if s := "x" + string(c) + "y"; utf8.ValidString(s) && !reverses(s) {
			t.Errorf("%q is not what comes back", s)
		}
	}
}

func TestAppendStringIsWhatAppendMakesOfIt(t *testing.T) {
	stable := func(raw []byte) bool {
		text := stablejson.AppendString(nil, string(raw))
		again, err := stablejson.Append(nil, text)
		return err == nil && string(again) == string(text)
	}
	if err := quick.Check(stable, &quick.Config{MaxCount: 10_000}); err != nil {
		t.Error(err)
	}
}

func TestTextOfOtherKinds(t *testing.T) {
	for _, value := range []string{"", "null", "true", "1", "[]", "{}"} {
		if text, ok := stablejson.Text([]byte(value)); ok {
			t.Errorf("Text(%s): got %q", value, text)
		}
	}
}
