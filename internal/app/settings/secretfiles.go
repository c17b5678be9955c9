package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"strings"

	"github.com/anabranch/anabranch/schemas"
)

// fileSuffix ends the name of the variable that names the file of a secret.
const fileSuffix = "_FILE"

// secret tells whether the setting may not be seen. The environment of a process is seen by whoever may look at the process,
// by its children and by crash reports, so a secret may be in a file instead.
func (v *variable) secret() bool { return v.kind == reflect.TypeFor[schemas.Secret]() }

// readSecretFiles returns the environment with what the files of secrets hold, without the ends of lines behind it. An error
// names the variable and never shows what a file holds.
func (c *Config) readSecretFiles(environment map[string]string) (map[string]string, error) {
	read := maps.Clone(environment)
	var faults []error
	for _, v := range c.variables() {
		path := environment[v.name+fileSuffix]
		if !v.secret() || path == "" {
			continue
		}
		if environment[v.name] != "" {
			faults = append(faults, fmt.Errorf("%s%s=%s: %s is set too: expected one of them", v.name, fileSuffix, path, v.name))
			continue
		}
		text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = failed.Err // its path is about to be named
		}
		secret := strings.TrimRight(string(text), "\r\n")
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("%s%s=%s: %w", v.name, fileSuffix, path, err))
		case secret == "":
			faults = append(faults, fmt.Errorf("%s%s=%s: the file is empty: expected the secret", v.name, fileSuffix, path))
		default:
			read[v.name] = secret
		}
	}
	return read, errors.Join(faults...)
}
