package doctor

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/keyring"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wsseal"
	"github.com/anabranch/anabranch/schemas"
)

func TestHowSecretsAreKept(t *testing.T) {
	t.Parallel()
	var keys [2]*wsseal.Ring
	for i := range keys {
		keys[i], _ = wsseal.Parse(schemas.Secret(hex.EncodeToString(bytes.Repeat([]byte{byte(i + 1)}, keyring.KeyBytes))))
	}
	with := func(id string) workspace.Destination {
		d := destination(id, true, []string{"web"})
		d.SharedSecret = "zq"
		return d
	}
	sealed := func(i int, id string) workspace.Destination {
		s := workspace.NewSnapshot(nil, []workspace.Destination{with(id)})
		return *keys[i].Seal(s, s).Destinations()[0]
	}
	for name, c := range map[string]struct {
		private bool
		all     []workspace.Destination
		want    []string // level and parts
	}{
		"no secrets":     {all: []workspace.Destination{destination("a", true, nil)}},
		"in the clear":   {all: []workspace.Destination{with("a"), with("b")}, want: []string{"warning: the secrets of destinations a, b are in the topic workspace in the clear"}},
		"on the machine": {private: true, all: []workspace.Destination{with("a")}, want: []string{"ok: the secrets of destination a are"}},
		"sealed":         {all: []workspace.Destination{sealed(0, "a"), sealed(0, "b"), destination("c", true, nil)}, want: []string{"ok: the secrets of destinations a, b are encrypted with the key " + keys[0].Current()}},
		"half of them":   {all: []workspace.Destination{sealed(0, "a"), with("b")}, want: []string{"warning: the secrets of destination b", "ok: the secrets of destination a"}},
		"damaged":        {all: []workspace.Destination{{ID: "a", SharedSecret: schemas.SealedSecret("x")}}, want: []string{"ok: the secrets of destination a are encrypted with the key unknown"}},
		"many": {
			all:  []workspace.Destination{with("a"), with("b"), with("c"), with("d"), with("e"), with("f"), with("g")},
			want: []string{"warning: the secrets of destinations a, b, c, d, e and 2 more"},
		},
	} {
		found := judgeSealing(workspace.NewSnapshot(nil, c.all), c.private)
		if len(found) != len(c.want) {
			t.Errorf("%s: found %v", name, found)
			continue
		}
		for i, f := range found {
			if text := string(f.Level) + ": " + f.Found; !strings.HasPrefix(text, c.want[i]) || strings.Contains(text, "zq") {
				t.Errorf("%s: %s, want %s", name, text, c.want[i])
			}
		}
	}
	s := workspace.NewSnapshot(nil, []workspace.Destination{sealed(0, "a"), sealed(1, "b")})
	if found := judgeSealing(s, false); len(found) != 2 || found[0].Level != Warning || found[1].Level != Warning {
		t.Errorf("of two keys: %v", found)
	}
}
