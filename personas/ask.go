package personas

import (
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/personas/internal/engine"
)

// DefinitionsIn returns those of a workspace, as the stage has them.
func DefinitionsIn(s *workspace.Snapshot) *engine.Definitions { return definitionsIn(s) }

// Print returns the name of definitions by which a partition says that they are in force.
func Print(d *engine.Definitions) (string, error) {
	c, err := compile(d, nil)
	if err != nil {
		return "", err
	}
	return c.print, nil
}
