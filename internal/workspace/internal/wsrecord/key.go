package wsrecord

import (
	"strings"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

const keyApplied = "workspace/applied"

func recordKey(kind, id string) string { return kind + "/" + id }

// wellFormed tells whether a key could be one of a later release's kind.
func wellFormed(kind, id string) bool {
	return schemas.ValidID(kind) && schemas.ValidID(id) && kind != workspace.KindSource && kind != workspace.KindDestination
}

// splitKey is the inverse of recordKey; ok is false for keys of other shapes
// and of kinds that this version does not know.
func splitKey(key string) (kind, id string, ok bool) {
	kind, id, _ = strings.Cut(key, "/")
	return kind, id, (kind == workspace.KindSource || kind == workspace.KindDestination) && schemas.ValidID(id)
}
