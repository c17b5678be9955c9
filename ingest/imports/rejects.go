package imports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// rejects is the file of rows that were refused, one JSON object a line. It is made when
// there is something to write.
type rejects struct {
	name    string
	base    string // directory of the files, "" of a single one
	file    *os.File
	bytes   int64
	written int64 // rows, of this run
}

// rejectsOf returns the rejects of an import that was interrupted when they were so long;
// what stands behind that was not counted, and is refused once more.
func rejectsOf(name string, length int64) (*rejects, error) {
	r := &rejects{name: filepath.Clean(name) + ".rejected.ndjson"}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		r.base = filepath.Clean(name)
	}
	info, err := os.Stat(r.name)
	switch {
	case os.IsNotExist(err):
		return r, nil // or somebody has taken it away: what comes now is a file of its own
	case err != nil:
		return nil, err
	case info.Size() > length:
		if err := os.Truncate(r.name, length); err != nil {
			return nil, err
		}
	}
	r.bytes = min(length, info.Size())
	return r, nil
}

// add writes refused rows, and returns once they would survive a loss of power: what
// counts them is committed next.
func (r *rejects) add(refused []Refusal) error {
	if len(refused) == 0 {
		return nil
	}
	if r.file == nil {
		file, err := os.OpenFile(r.name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		r.file = file
	}
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	for _, each := range refused {
		each.File = r.within(each.File)
		if err := out.Encode(each); err != nil {
			return err
		}
	}
	n, err := r.file.Write(text.Bytes())
	r.bytes += int64(n)
	r.written += int64(len(refused))
	if err == nil {
		err = r.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("write the rows that were refused: %w", err)
	}
	return nil
}

// within returns the path of a file of several below their directory; "" of a single one.
func (r *rejects) within(file string) string {
	if r.base == "" {
		return ""
	}
	name, err := filepath.Rel(r.base, file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(name)
}

func (r *rejects) close() {
	if r.file != nil {
		_ = r.file.Close() // it is synced
	}
}
