package ask

import (
	"context"
	"encoding/json"
	"time"

	"github.com/anabranch/anabranch/personas/internal/engine"
)

// Profile is what is known of a user.
type Profile struct {
	UserID string `json:"user_id"`
	// Traits are those of identify calls that definitions look at, by path.
	Traits    map[string]json.RawMessage `json:"traits"`
	Audiences map[string]Membership      `json:"audiences"` // of which something was told
	Computed  map[string]json.RawMessage `json:"computed"`
	Sources   []string                   `json:"sources"` // that have seen the user
	Links     []string                   `json:"links"`   // ids that were merged into this one
	// Refused are ids that came with the user's calls and are not theirs.
	Refused   []string   `json:"refused"`
	FirstSeen *time.Time `json:"first_seen"`
	LastSeen  *time.Time `json:"last_seen"`
	// MergedInto is the user that this one was merged into: the rest is theirs, and empty.
	MergedInto string `json:"merged_into,omitempty"`
	// Deleted is the deletion request for which all before it was forgotten.
	Deleted string `json:"deleted,omitempty"`
	// AsOf is the clock by which it is so.
	AsOf time.Time `json:"as_of"`
}

// Membership is what a user was told of an audience.
type Membership struct {
	Member bool      `json:"member"`
	Since  time.Time `json:"since"`
}

// Look returns what is known of a user. The error is an [Unknown] for one whom nobody has
// seen. It reads the user's partition of the changelog.
func Look(ctx context.Context, log *Log, id string) (*Profile, error) {
	c, err := log.Workspace.compile()
	if err != nil {
		return nil, err
	}
	u, err := log.user(ctx, c, id)
	if err != nil {
		return nil, err
	}
	out := &Profile{
		UserID: id, Traits: make(map[string]json.RawMessage), Audiences: make(map[string]Membership),
		Computed: make(map[string]json.RawMessage), Sources: []string{}, Links: []string{}, Refused: []string{},
		MergedInto: u.profile.Redirect, Deleted: u.profile.Deletion.Request, AsOf: u.now,
	}
	for path, value := range c.KnownTraits(u.profile) {
		out.Traits[path] = value
	}
	out.Sources = append(out.Sources, u.profile.Sources()...)
	for _, link := range u.profile.Links {
		out.Links = append(out.Links, link.ID)
	}
	for _, link := range u.profile.Refused {
		out.Refused = append(out.Refused, link.ID)
	}
	if first, last := u.profile.Seen(); !first.IsZero() {
		out.FirstSeen, out.LastSeen = &first, &last
	}
	for _, d := range log.Workspace.definitions() {
		if err := out.add(c, u, &d); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// add notes what the user was told of a definition. The value of a computed trait is not
// kept: it is computed, as it was.
func (out *Profile) add(c *engine.Catalogue, u *one, d *Definition) error {
	told, ok := u.profile.Told(d.Kind, d.ID)
	switch {
	case !ok:
	case d.Kind == engine.ClassAudience:
		out.Audiences[d.ID] = Membership{told.Member, told.At}
	case d.Enabled:
		node, err := c.Explain(u.profile, d.ID, u.now)
		if err != nil {
			return err
		}
		out.Computed[d.ID] = node.Value
	}
	return nil
}
