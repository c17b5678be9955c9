package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/anabranch/anabranch/test/storm/child"
)

// Ask runs a command of the product and decodes the object that it prints. What its exit
// code says beside such an object is no error.
func (l *Lab) Ask(ctx context.Context, into any, args ...string) error {
	var complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, l.bench.Binary, args...) //nolint:gosec // the binary under test
	cmd.Env, cmd.Stderr = append(os.Environ(), l.settings()...), &complaint
	out, err := cmd.Output()
	if json.Unmarshal(out, into) != nil {
		return fmt.Errorf("anabranch %s %s: expected an object, found %q: %w: %s", args[0], args[1], out, err, bytes.TrimSpace(complaint.Bytes()))
	}
	return nil
}

// Tool makes a process of a command of the product that ends by itself, not yet started.
func (l *Lab) Tool(args ...string) *child.Process {
	p := &child.Process{Name: args[0], Path: l.bench.Binary, Args: args, Env: l.settings(), Log: filepath.Join(l.Dir, args[0]+".log")}
	l.processes = append(l.processes, p)
	return p
}
