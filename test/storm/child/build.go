package child

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// Build compiles the product as a user would and returns the binary's path.
func Build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "anabranch")
	out, err := exec.CommandContext(ctx, "go", //nolint:gosec // the binary's place is ours
		"build", "-o", binary, "github.com/anabranch/anabranch/cmd/anabranch").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return binary, nil
}
