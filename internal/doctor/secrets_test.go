package doctor

import (
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

func TestSecretsThatProtectNothing(t *testing.T) {
	t.Parallel()
	const long = "0123456789abcdef"
	for name, c := range map[string]struct {
		secret   schemas.Secret
		endpoint workspace.Endpoint
		want     []string
	}{
		"short, but sealed":       {schemas.SealedSecret("x"), workspace.Endpoint{URL: "https://hooks.example.com/"}, nil},
		"fine":                    {long, workspace.Endpoint{URL: "https://hooks.example.com/?k=zq"}, nil},
		"none, and nothing to it": {"", workspace.Endpoint{URL: "http://hooks.example.com/"}, nil},
		"a short secret":          {schemas.Secret(long[1:]), workspace.Endpoint{URL: "https://hooks.example.com/"}, []string{"its shared secret is short"}},
		"on this machine":         {"short", workspace.Endpoint{URL: "http://u:zq@127.0.0.1:8082/?k=zq"}, nil},
		"signed over http":        {long, workspace.Endpoint{URL: "http://hooks.example.com/"}, []string{"deliveries are signed, and can be read"}},
		"a header over http":      {"", workspace.Endpoint{URL: "http://hooks.example.com/", Headers: []workspace.Header{{Name: "X-Token", Value: "zq"}}}, []string{"in the clear"}},
		"a password over http":    {"short", workspace.Endpoint{URL: "http://u:zq@hooks.example.com/"}, []string{"in the clear", "is short"}},
	} {
		d := destination("crm", true, []string{"web"})
		d.SharedSecret, d.Endpoints = c.secret, []workspace.Endpoint{c.endpoint}
		found := judgeSecrets(workspace.NewSnapshot(nil, []workspace.Destination{d}))
		if len(found) != len(c.want) {
			t.Errorf("%s: found %v", name, found)
			continue
		}
		for i, f := range found {
			if f.Level != Warning || !strings.Contains(f.Found, c.want[i]) || strings.Contains(f.Found+f.Do, "zq") {
				t.Errorf("%s: %+v, want %s and no secret", name, f, c.want[i])
			}
		}
	}
}
