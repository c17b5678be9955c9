package wstopic

import (
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
)

func TestNothingShowsSecrets(t *testing.T) {
	t.Parallel()
	s := wstest.Secretive()
	state := State{Snapshot: s}
	wstest.ShowsNoSecret(t, map[string]any{
		"state": state, "state pointer": &state,
		"follower settings": FollowerSettings{Live: workspace.NewLive(s)},
		"publisher":         &Publisher{},
	})
}
