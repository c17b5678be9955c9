package schemas_test

import (
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

const canary = "c4n4ry-hunter2"

// holder is what a configuration looks like to whoever prints it.
type holder struct {
	Secret  schemas.Secret            `json:"secret"`
	Pointer *schemas.Secret           `json:"pointer"`
	Map     map[string]schemas.Secret `json:"map"`
	Slice   []schemas.Secret          `json:"slice"`
	Any     any                       `json:"any"`
}

func newHolder() holder {
	s := schemas.Secret(canary)
	return holder{Secret: s, Pointer: &s, Map: map[string]schemas.Secret{"s": s}, Slice: []schemas.Secret{s}, Any: s}
}

func checkRedacted(t *testing.T, how, got string) {
	t.Helper()
	// The text in hexadecimal or as a list of bytes is as good as in the clear.
	digits := hex.EncodeToString([]byte(canary))
	list := strings.Trim(fmt.Sprintf("%d", []byte(canary)), "[]")
	for _, form := range []string{canary, digits, strings.ToUpper(digits), list} {
		if strings.Contains(got, form) {
			t.Errorf("%s prints the secret: %s", how, got)
		}
	}
	if !strings.Contains(got, "[redacted]") {
		t.Errorf("%s = %s, want [redacted] in it", how, got)
	}
}

func TestSecretIsNeverFormatted(t *testing.T) {
	t.Parallel()
	s := schemas.Secret(canary)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%f", "%U", "%c", "%10s", "%-40.5v"} {
		checkRedacted(t, verb, fmt.Sprintf(verb, s))
		checkRedacted(t, verb+" of a struct", fmt.Sprintf(verb, newHolder()))
		checkRedacted(t, verb+" of a pointer", fmt.Sprintf(verb, &s))
	}
	checkRedacted(t, "an error", fmt.Errorf("open %v: %w", s, io.EOF).Error())
	checkRedacted(t, "String", s.String())
	checkRedacted(t, "GoString", s.GoString())
	checkRedacted(t, "an empty one", fmt.Sprint(schemas.Secret("")))
}

func TestSecretIsNeverEncoded(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(newHolder())
	if err != nil {
		t.Fatal(err)
	}
	checkRedacted(t, "json.Marshal", string(text))
	// An encoder may ask for either form alone.
	for how, encode := range map[string]func() ([]byte, error){
		"MarshalJSON": json.Marshaler(schemas.Secret(canary)).MarshalJSON,
		"MarshalText": encoding.TextMarshaler(schemas.Secret(canary)).MarshalText,
	} {
		if text, err = encode(); err != nil {
			t.Fatal(err)
		}
		checkRedacted(t, how, string(text))
	}
}

func TestSecretIsNeverLogged(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]func(io.Writer) slog.Handler{
		"text": func(out io.Writer) slog.Handler { return slog.NewTextHandler(out, nil) },
		"json": func(out io.Writer) slog.Handler { return slog.NewJSONHandler(out, nil) },
	} {
		var out strings.Builder
		slog.New(handler(&out)).Info("loaded", "secret", schemas.Secret(canary), "holder", newHolder(),
			slog.Group("group", "s", schemas.Secret(canary)))
		checkRedacted(t, "slog "+name, out.String())
	}
}

func TestSecretReveals(t *testing.T) {
	t.Parallel()
	if got := schemas.Secret(canary).Reveal(); got != canary {
		t.Errorf("Reveal() = %q, want the text", got)
	}
	var s schemas.Secret
	if err := json.Unmarshal([]byte(`"`+canary+`"`), &s); err != nil || s.Reveal() != canary {
		t.Errorf("decoded %q, error %v: a configuration must be able to hold one", s.Reveal(), err)
	}
}
