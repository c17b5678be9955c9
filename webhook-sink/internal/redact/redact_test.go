package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// secretive is an endpoint with every kind of secret.
func secretive() workspace.Endpoint {
	return workspace.Endpoint{
		URL: "https://zqUser:zqPass%2Fword@crm.example.com/hooks?token=zqQuery%26&v=1",
		Headers: []workspace.Header{
			{Name: "Authorization", Value: "Bearer zqBearer+1"}, {Name: "X-Key", Value: `zqHeader "<é>"`}, {Name: "X-Mode", Value: "1"},
		},
	}
}

const shared = schemas.Secret("zqShared secret")

func TestSecretsAreRemoved(t *testing.T) {
	t.Parallel()
	basic := base64.StdEncoding.EncodeToString([]byte("zqUser:zqPass/word"))
	quoted, err := json.Marshal(`zqHeader "<é>"`)
	if err != nil {
		t.Fatal(err)
	}
	of := Of(shared, secretive())
	for name, text := range map[string]string{
		"a request line":       "POST /hooks?token=zqQuery%26&v=1 HTTP/1.1",
		"a value of the query": "unknown token zqQuery& here",
		"credentials":          "Authorization: Basic " + basic,
		"a user":               "no user zqUser here",
		"a password":           "not zqPass/word!",
		"a URL":                "https://zqUser:zqPass%2Fword@crm",
		"a header":             `X-Key: zqHeader "<é>";`,
		"a header in JSON":     `{"X-Key":` + string(quoted) + `}`,
		"a header's word":      "bad token: zqBearer+1.",
		"a header in a URL":    "https://login.example.com/?key=" + url.QueryEscape(`zqHeader "<é>"`),
		"the shared secret":    "expected zqShared secret",
	} {
		got := string(of.Remove([]byte(text)))
		if strings.Contains(got, "zq") || strings.Contains(got, basic) || !strings.Contains(got, Mark) {
			t.Errorf("%s: %s is shown as %s", name, text, got)
		}
	}
	const harmless = `{"error":"1 is too many, Bearer of bad news"}`
	if got := string(of.Remove([]byte(harmless))); got != harmless {
		t.Errorf("%s is shown as %s", harmless, got)
	}
}

// TestWhatIsCutInTheMidstOfASecret: wherever an answer ends, it shows nothing of a secret that
// one could tell it by.
func TestWhatIsCutInTheMidstOfASecret(t *testing.T) {
	t.Parallel()
	of := Of(shared, secretive())
	for _, whole := range []string{"you said zqShared secret", "Bearer zqBearer+1", "?token=zqQuery%26&v=1"} {
		for end := range len(whole) + 1 {
			got := string(of.Remove([]byte(whole[:end])))
			if at := strings.Index(got, "zq"); at >= 0 && len(got)-at >= least {
				t.Errorf("%q is shown as %q", whole[:end], got)
			}
		}
	}
}

func TestHeadsWithoutSecrets(t *testing.T) {
	t.Parallel()
	head := "POST /hooks?token=zqQuery HTTP/1.1\r\nHost: crm.example.com\r\nauthorization: Basic enE=\r\nX-Key: zqHeader\r\nX-Signature: 12ab\r\n\r\n"
	want := []Field{
		{Value: "POST /hooks?" + Mark + " HTTP/1.1"}, {"Host", "crm.example.com"}, {"authorization", Mark}, {"X-Key", Mark}, {"X-Signature", "12ab"},
	}
	if diff := cmp.Diff(want, Request([]byte(head), secretive())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Fields([]byte("HTTP/1.1 200 OK\n folded\nnothing\n\n")); len(got) != 3 {
		t.Errorf("an odd head is %v", got)
	}
}

// Whatever an endpoint says: no secret is left, and what is left is what it said.
func FuzzRemove(f *testing.F) {
	for _, seed := range []string{"zqShared secret", "zqShared zqShared secret", "zqSh", "Bearer Bearer zqBearer+1zqUser", "\xff" + Mark} {
		f.Add(seed)
	}
	of := Of(shared, secretive())
	f.Fuzz(func(t *testing.T, text string) {
		got := string(of.Remove([]byte(text)))
		for _, secret := range of.texts {
			if strings.Contains(got, secret) && !strings.Contains(Mark, secret) {
				t.Fatalf("%q shows %q: %q", text, secret, got)
			}
		}
		rest := text
		for part := range strings.SplitSeq(got, Mark) {
			_, after, found := strings.Cut(rest, part)
			if !found {
				t.Fatalf("%q is shown as %q", text, got)
			}
			rest = after
		}
	})
}
