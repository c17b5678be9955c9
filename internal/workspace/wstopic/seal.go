package wstopic

import (
	"fmt"
	"slices"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wsseal"
)

// Changes returns what has to change for next to be in force, and next as it is written
// to the topic: with its secrets sealed, if there are keys. Values are compared by what
// they say; a destination of which nothing differs is a change all the same
// ([workspace.Resealed], [workspace.Unsealed]) when its secrets are not sealed as they are to be.
//
// Without keys it is an error when the topic has secrets that are sealed, unless they are
// to be in the clear: a setting that was forgotten must not write them so.
func (s *State) Changes(next *workspace.Snapshot, keys *wsseal.Ring, inTheClear bool) ([]workspace.Change, *workspace.Snapshot, error) {
	how, sealed := workspace.Unsealed, next
	switch {
	case inTheClear:
	case keys != nil:
		how, sealed = workspace.Resealed, keys.Seal(next, s.Snapshot)
	default:
		if err := refuseClear(s.Snapshot, next); err != nil {
			return nil, nil, err
		}
	}
	changes := workspace.Diff(keys.Open(s.Snapshot), next)
	said := make(map[string]bool)
	for _, c := range changes {
		if c.Kind == workspace.KindDestination {
			said[c.ID] = true
		}
	}
	for _, c := range workspace.Diff(s.Snapshot, sealed) {
		if c.Kind == workspace.KindDestination && !said[c.ID] {
			changes = append(changes, workspace.Change{Op: how, Kind: c.Kind, ID: c.ID})
		}
	}
	return changes, sealed, nil
}

// refuseClear returns an error when secrets that are sealed would be written in the
// clear, or could not be compared.
func refuseClear(before, next *workspace.Snapshot) error {
	i := slices.IndexFunc(before.Destinations(), func(d *workspace.Destination) bool {
		_, stays := next.Destination(d.ID)
		return stays && d.Sealed()
	})
	if i < 0 {
		return nil
	}
	return fmt.Errorf("the secrets of destination %s are encrypted in the topic, and SECRETS_KEY is not set: set it to the keys that they are encrypted with, or write them in the clear with `anabranch apply --clear-secrets`", before.Destinations()[i].ID)
}

// open puts secrets in the clear for the stages of this process, if any of them needs
// them, and says of which destinations it can't.
func (f *Follower) open(s *workspace.Snapshot) *workspace.Snapshot {
	if !f.set.Secrets {
		return s
	}
	opened := f.set.Keys.Open(s)
	var locked, keys []string
	for _, d := range opened.Destinations() {
		if !d.Sealed() {
			continue
		}
		locked = append(locked, d.ID)
		for _, secret := range d.Secrets() {
			if id := wsseal.KeyOf(secret); id != "" && !slices.Contains(keys, id) {
				keys = append(keys, id)
			}
		}
	}
	f.metrics.locked.Set(float64(len(locked)))
	if len(locked) > 0 {
		slices.Sort(keys)
		f.log.Error("secrets of destinations can't be decrypted, so their events are held back and nothing is sent to them: set SECRETS_KEY to a list that has the keys named here, or apply the workspace again with a key that this process has",
			"destinations", locked[:min(len(locked), maxNamed)], "count", len(locked), "keys", keys, "current_key", f.set.Keys.Current())
	}
	return opened
}

// maxNamed is how many destinations a line of the log names.
const maxNamed = 10
