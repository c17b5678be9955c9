package wsfile

import (
	"errors"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
)

func TestNothingShowsSecrets(t *testing.T) {
	t.Parallel()
	_, refused := Parse("w.yaml", []byte("sources: [{id: A, writeKey: "+wstest.Canary+"}]\ndestinations: []\n"), Lookup{})
	refusal, ok := errors.AsType[*Error](refused)
	if !ok {
		t.Fatalf("Parse: %v", refused)
	}
	wstest.ShowsNoSecret(t, map[string]any{"error": refusal, "problems": refusal.Problems})
}
