package releasetest

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// copied is a folder with the files of ours that name images, by their paths in it.
func copied(t *testing.T) (dir string, files map[string]string) {
	t.Helper()
	dir = t.TempDir()
	names, err := filepath.Glob("../../deploy/kubernetes/*/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("found %d manifests, %v", len(names), err)
	}
	for _, name := range append(names, "../../Dockerfile", "../../docker-compose.yml") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, strings.TrimPrefix(name, "../../")), string(text))
	}
	put(t, filepath.Join(dir, "deploy/odd.yaml"), "a:\n  - image: registry.example.com:5000/a/b:v1.0_x # kept\n    image: own\n    # image: a/b:v1\n")
	return dir, contents(t, dir)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir+"/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// pin runs the script in a folder, with a registry that answers each image by the
// script given.
func pin(t *testing.T, dir, registry string, args ...string) (string, error) {
	t.Helper()
	script, err := filepath.Abs("../../scripts/pin-images.sh")
	if err != nil {
		t.Fatal(err)
	}
	answers := filepath.Join(t.TempDir(), "digest")
	if err = os.WriteFile(answers, []byte("#!/bin/sh\n"+registry+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(script, args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "IMAGE_DIGEST=" + answers}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// sums answers with a digest of the image's name.
const sums = `printf 'sha256:%s\n' "$(printf %s "$1" | sha256sum | cut -d' ' -f1)"`

func TestImagesArePinned(t *testing.T) {
	t.Parallel()
	dir, _ := copied(t)
	if out, err := pin(t, dir, "exit 1", "-u"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before := contents(t, dir)
	for file, text := range before {
		if strings.Contains(text, "@sha256:") {
			t.Errorf("%s has digests after they were taken out", file)
		}
	}
	if out, err := pin(t, dir, sums); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	after := contents(t, dir)
	const digest = `@sha256:[0-9a-f]{64}`
	for file, patterns := range map[string][]string{
		"Dockerfile":                         {`(?m)^ARG GO_IMAGE=golang:[0-9a-z.-]+` + digest + `$`, `(?m)^FROM \$\{GO_IMAGE\} AS build$`, `(?m)^FROM scratch$`},
		"docker-compose.yml":                 {`image: redpandadata/redpanda:\S+` + digest, `image: prom/prometheus:\S+` + digest, `image: grafana/grafana:\S+` + digest, `(?m)image: anabranch$`},
		"deploy/odd.yaml":                    {`(?m)- image: registry\.example\.com:5000/a/b:v1\.0_x` + digest + ` # kept$`, `(?m)image: own$`, `(?m)# image: a/b:v1$`},
		"deploy/kubernetes/base/ingest.yaml": {`(?m)image: anabranch$`},
	} {
		for _, pattern := range patterns {
			if !regexp.MustCompile(pattern).MatchString(after[file]) {
				t.Errorf("%s: nothing matches %s in\n%s", file, pattern, after[file])
			}
		}
	}
	if out, err := pin(t, dir, `printf 'sha256:%064d\n' 7`); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if again := contents(t, dir)["Dockerfile"]; strings.Count(again, "@sha256:") != 1 || !strings.Contains(again, "00007\n") {
		t.Errorf("a digest that was there is not looked up again:\n%s", again)
	}
	if out, err := pin(t, dir, "exit 1", "-u"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !maps.Equal(contents(t, dir), before) {
		t.Errorf("without the digests: %v", contents(t, dir))
	}
}

// TestTheBuildIsPinned: what goes into our image, and what looks at it, is named by digest.
func TestTheBuildIsPinned(t *testing.T) {
	t.Parallel()
	_, files := copied(t)
	for file, pattern := range map[string]string{
		"Dockerfile":         `(?m)^ARG GO_IMAGE=golang:1\.\d+\.\d+-\w+@sha256:[0-9a-f]{64}$`,
		"docker-compose.yml": `(?s)image: prom/prometheus:v[\d.]+@sha256:[0-9a-f]{64}\n.*image: grafana/grafana:[\d.]+@sha256:[0-9a-f]{64}\n`,
	} {
		if !regexp.MustCompile(pattern).MatchString(files[file]) {
			t.Errorf("%s does not match %s", file, pattern)
		}
	}
}

func TestNothingIsPinnedByHalf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ registry, want string }{
		"no registry": {"exit 1", "Dockerfile: the digest of golang:"},
		"no digest":   {"echo latest", "is 'latest', expected sha256:"},
		"one missing": {`case "$1" in grafana/*) exit 1 ;; esac; ` + sums, "docker-compose.yml: the digest of grafana/grafana:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, before := copied(t)
			out, err := pin(t, dir, c.registry)
			if err == nil || !strings.Contains(out, c.want) {
				t.Errorf("%v, want %q in\n%s", err, c.want, out)
			}
			if !maps.Equal(contents(t, dir), before) {
				t.Error("files were changed all the same")
			}
		})
	}
	if out, err := pin(t, t.TempDir(), sums, "--all"); err == nil || !strings.Contains(out, "unexpected argument --all") {
		t.Errorf("%v\n%s", err, out)
	}
}
