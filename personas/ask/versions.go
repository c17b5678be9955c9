package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
)

// Version is one of those that a definition had or has.
type Version struct {
	Key     string `json:"key"`
	Version int    `json:"version"`
	// Applied is when it was put in force; nil: nobody knows.
	Applied *time.Time `json:"applied_at"`
	// Definition is what it says, as the file would in JSON.
	Definition json.RawMessage `json:"definition"`
}

// versionsOf returns the versions of each definition, the latest first.
func versionsOf(s *workspace.Snapshot) map[string][]Version {
	all := make(map[string][]Version)
	add := func(key string, written []byte, e *workspace.Edition) {
		all[key] = append(all[key], newVersion(key, e.Version, e.Applied, written))
		for _, was := range e.Earlier {
			all[key] = append(all[key], newVersion(key, was.Version, was.Applied, was.Definition))
		}
	}
	audiences, traits := s.Audiences(), s.Traits()
	for i := range audiences {
		add(audiences[i].ID, audiences[i].JSON(), &audiences[i].Edition)
	}
	for i := range traits {
		add(traits[i].ID, traits[i].JSON(), &traits[i].Edition)
	}
	return all
}

func newVersion(key string, n int, applied time.Time, written []byte) Version {
	v := Version{Key: key, Version: n, Definition: written}
	if !applied.IsZero() {
		v.Applied = &applied
	}
	return v
}

// VersionOf returns one version of a definition: the last one where n is 0, and the one so
// many before it where n is negative. The error is an [Unknown] for a key that there is not,
// and says which versions there are for another one.
func VersionOf(w *Workspace, key string, n int) (*Version, error) {
	if _, err := w.find(key); err != nil {
		return nil, err
	}
	all := w.versions[key]
	if n <= 0 && -n < len(all) {
		return &all[-n], nil
	}
	i := slices.IndexFunc(all, func(v Version) bool { return v.Version == n })
	switch {
	case i >= 0:
		return &all[i], nil
	case len(all) == 0:
		return nil, fmt.Errorf("%s has no versions", key)
	case len(all) == 1:
		return nil, fmt.Errorf("%s: no version but %d is kept", key, all[0].Version)
	default:
		return nil, fmt.Errorf("%s: expected a version from %d to %d, which are kept", key, all[len(all)-1].Version, all[0].Version)
	}
}

// Edit is what differs between two versions of a definition.
type Edit struct {
	From Version `json:"from"`
	To   Version `json:"to"`
	// Changed are the keys of the file that differ, by name.
	Changed []string `json:"changed"`
}

// Compare returns what differs between two versions of a definition, which are as in
// [VersionOf].
func Compare(w *Workspace, key string, from, to int) (*Edit, error) {
	before, err := VersionOf(w, key, from)
	if err != nil {
		return nil, err
	}
	after, err := VersionOf(w, key, to)
	if err != nil {
		return nil, err
	}
	e := &Edit{From: *before, To: *after}
	e.Changed, err = changed(before.Definition, after.Definition)
	return e, err
}

// changed returns the names of members of which two JSON objects have different ones.
func changed(before, after []byte) ([]string, error) {
	var was, is map[string]json.RawMessage
	if err := json.Unmarshal(before, &was); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(after, &is); err != nil {
		return nil, err
	}
	both := maps.Clone(was)
	maps.Copy(both, is)
	maps.DeleteFunc(both, func(key string, _ json.RawMessage) bool { return bytes.Equal(was[key], is[key]) })
	return slices.Sorted(maps.Keys(both)), nil
}

// PrintVersion prints a version as an element of the section of a workspace file.
func PrintVersion(w io.Writer, v *Version) error {
	text, err := definition.Entry(v.Definition)
	if err == nil {
		_, err = w.Write(terminal.AppendPrintable(nil, text))
	}
	return err
}

// PrintEdit prints two versions as one text, with - before the lines that only the first
// one has, and + before those that only the second one has.
func PrintEdit(w io.Writer, e *Edit) error {
	before, err := definition.Entry(e.From.Definition)
	if err != nil {
		return err
	}
	after, err := definition.Entry(e.To.Definition)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	_, _ = fmt.Fprintf(&b, "--- version %d of %s\n", e.From.Version, moment(e.From.Applied))
	_, _ = fmt.Fprintf(&b, "+++ version %d of %s\n", e.To.Version, moment(e.To.Applied))
	if len(e.Changed) == 0 {
		_, _ = fmt.Fprintln(&b, "they say the same")
	}
	for _, line := range sideBySide(lines(before), lines(after)) {
		_, _ = fmt.Fprintln(&b, printable([]byte(line)))
	}
	_, err = w.Write(b.Bytes())
	return err
}

func lines(text []byte) []string { return strings.Split(strings.TrimRight(string(text), "\n"), "\n") }

// sideBySide returns the lines of two texts, each with a sign before it, so that as many as
// possible are common.
func sideBySide(before, after []string) []string {
	common := make([][]int, len(before)+1) // by where the rest begins in each
	for i := range common {
		common[i] = make([]int, len(after)+1)
	}
	for i, was := range slices.Backward(before) {
		for j, is := range slices.Backward(after) {
			if was == is {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var all []string
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			all = append(all, "  "+before[i])
			i, j = i+1, j+1
		case j == len(after) || i < len(before) && common[i+1][j] >= common[i][j+1]:
			all = append(all, "- "+before[i])
			i++
		default:
			all = append(all, "+ "+after[j])
			j++
		}
	}
	return all
}

// Changes returns what each of some versions changed in the one behind it in the list: the
// keys of the file, "-" for the last one.
func (d *Details) Changes() ([]string, error) {
	all := make([]string, len(d.Versions))
	for i := range d.Versions {
		all[i] = "-"
		if i+1 < len(d.Versions) {
			keys, err := changed(d.Versions[i+1].Definition, d.Versions[i].Definition)
			if err != nil {
				return nil, err
			}
			all[i] = strings.Join(keys, ", ")
		}
	}
	return all, nil
}

// versionRows are versions below each other, with what each one changed.
func (d *Details) versionRows() ([][]string, error) {
	changes, err := d.Changes()
	if err != nil {
		return nil, err
	}
	rows := [][]string{{"VERSION", "APPLIED", "CHANGED"}}
	for i := range d.Versions {
		rows = append(rows, []string{strconv.Itoa(d.Versions[i].Version), moment(d.Versions[i].Applied), changes[i]})
	}
	return rows, nil
}
