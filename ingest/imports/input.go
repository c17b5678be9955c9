package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/ingest/imports/internal/rows"
	"github.com/anabranch/anabranch/internal/workspace"
)

// Formats returns what --format may be.
func Formats() []string {
	all := rows.Formats()
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = string(f)
	}
	return names
}

// Stdin stands for standard input where a file is named.
const Stdin = rows.Stdin

// Input is what is imported.
type Input struct {
	Name   string    // of a file, a directory, or Stdin
	Stdin  io.Reader // what Stdin is
	Source string    // id of the source whose calls they become; "": the only one that there is
	Format string    // "": as the files look
	Map    string    // file of the mapping; "": none
}

// Terms are what calls are judged by, as of now.
type Terms struct {
	Workspace *workspace.Snapshot
	// Suppressed tells the users of whom nothing may be stored. Nil: nobody is suppressed.
	Suppressed func(userID []byte) bool
}

// Load reads the terms in force.
type Load func(context.Context) (Terms, error)

func (in Input) open() (*rows.Files, error) {
	opts := rows.Options{Format: rows.Format(in.Format), Stdin: in.Stdin}
	if in.Map != "" {
		mapping, err := rows.LoadMapping(in.Map)
		if err != nil {
			return nil, err
		}
		opts.Map = mapping
	}
	return rows.Open(in.Name, opts)
}

// source returns the id of the source.
func (in Input) source(ws *workspace.Snapshot) (string, error) {
	all := ws.Sources()
	id := in.Source
	switch {
	case id == "" && len(all) == 1:
		id = all[0].ID
	case id == "":
		ids := make([]string, len(all))
		for i := range all {
			ids[i] = all[i].ID
		}
		return "", fmt.Errorf("--source: expected one of the sources of the workspace: %s", strings.Join(ids, ", "))
	}
	switch found, known := ws.Source(id); {
	case id == workspace.SourcePersonas:
		return "", errors.New("--source=personas: expected a source of the workspace: what personas tells is computed, not imported")
	case !known:
		return "", fmt.Errorf("--source=%s: the workspace has no such source", id)
	case !found.Enabled:
		return "", fmt.Errorf("--source=%s: the source is switched off: its calls are not accepted", id)
	}
	return id, nil
}

// deliverAll and deliverNone are the words of --deliver that are no destinations.
const (
	deliverAll  = "all"
	deliverNone = "none"
)

// only returns the destinations that get the calls of a source: nil for all, empty for
// none.
func only(deliver, source string, ws *workspace.Snapshot) ([]string, error) {
	switch deliver {
	case "", deliverAll:
		return nil, nil
	case deliverNone:
		return []string{}, nil
	}
	ids := strings.Split(deliver, ",")
	for _, id := range ids {
		d, known := ws.Destination(id)
		if !known {
			return nil, fmt.Errorf("--deliver=%s: the workspace has no destination %q; expected all, none, or ids of destinations separated by commas", deliver, id)
		}
		if !d.Connected(source) {
			return nil, fmt.Errorf("--deliver=%s: the destination %s does not receive calls of the source %s", deliver, id, source)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}
