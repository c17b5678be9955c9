package driver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// stamp is the file of a copied folder that says of what it was installed.
const stamp = ".installed"

// Install copies the driver's folder, below sources, into the cache and returns
// the copy's path. The SDK is installed unless that was done before, by the same
// commands and of the same files.
func (d *Driver) Install(ctx context.Context, sources, cache string) (string, error) {
	for _, name := range d.Needs {
		if _, err := exec.LookPath(name); err != nil {
			return "", fmt.Errorf("install %s: %s is missing: %w", d.Name, name, err)
		}
	}
	from, to := filepath.Join(sources, d.Folder), filepath.Join(cache, d.Folder)
	if err := d.install(ctx, from, to); err != nil {
		return "", fmt.Errorf("install %s: %w", d.Name, err)
	}
	return to, nil
}

func (d *Driver) install(ctx context.Context, from, to string) error {
	want, err := d.digest(from)
	if err != nil {
		return err
	}
	mark := filepath.Join(to, stamp)
	if have, readErr := os.ReadFile(mark); readErr == nil && string(have) == want { //nolint:gosec // in our own cache
		return overwrite(to, from)
	}
	// What an interrupted installation left is no ground to build on.
	if err = os.RemoveAll(to); err != nil {
		return err
	}
	if err = overwrite(to, from); err != nil {
		return err
	}
	for _, line := range d.Setup {
		if err = command(ctx, to, line); err != nil {
			return err
		}
	}
	return os.WriteFile(mark, []byte(want), 0o600)
}

// digest covers the commands and the files that they depend on.
func (d *Driver) digest(folder string) (string, error) {
	pins := d.Pins
	if len(pins) == 0 {
		var err error
		if pins, err = files(folder); err != nil {
			return "", err
		}
	}
	text := fmt.Appendf(nil, "%q\n", d.Setup)
	for _, name := range pins {
		content, err := os.ReadFile(filepath.Join(folder, name)) //nolint:gosec // our own folder
		if err != nil {
			return "", err
		}
		text = fmt.Appendf(text, "%q %d\n%s", name, len(content), content)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// files lists the files of a folder, sorted, by their paths in it.
func files(folder string) ([]string, error) {
	var names []string
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// overwrite copies the files of one folder into another, over those of the same
// name.
func overwrite(to, from string) error {
	names, err := files(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(from, name)) //nolint:gosec // our own folder
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if err = os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // a cache of public packages
			return err
		}
		if err = os.WriteFile(target, text, 0o600); err != nil { //nolint:gosec // in our own cache
			return err
		}
	}
	return nil
}

// command runs one command line in a folder. What it says is part of the error.
func command(ctx context.Context, folder string, line []string) error {
	c := exec.CommandContext(ctx, line[0], line[1:]...) //nolint:gosec // from the table of drivers
	c.Dir = folder
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(line, " "), err, brief(out.Bytes()))
	}
	return nil
}

// brief is the begin and the end of what a command said: package managers have
// the cause at one or the other.
func brief(text []byte) []byte {
	const most = 500
	text = bytes.TrimSpace(text)
	if len(text) <= 2*most {
		return text
	}
	return slices.Concat(text[:most], []byte("\n...\n"), text[len(text)-most:])
}
