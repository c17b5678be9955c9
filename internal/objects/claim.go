package objects

import (
	"context"
	"encoding/json"
	"fmt"
)

// ClaimName is the object that says whose archive a place is. Readers of archives pass over
// names that begin with a dot.
const ClaimName = ".anabranch.json"

// Owner is the topic that an archive is of.
type Owner struct {
	Topic string `json:"topic"`
	ID    string `json:"id"` // of the topic: one that is made again has another
}

// OwnerOf returns the topic that the archive of a place is of; false: there is no archive.
func OwnerOf(ctx context.Context, in Store) (owner Owner, there bool, err error) {
	text, there, err := in.Get(ctx, ClaimName)
	if err != nil {
		return owner, false, fmt.Errorf("read %s: %w", ClaimName, err)
	}
	if there {
		owner, err = parse(text)
	}
	return owner, there, err
}

// Claim has a place belong to a topic, and is an error where it belongs to another one.
func Claim(ctx context.Context, in Store, by Owner) error {
	owner, there, err := OwnerOf(ctx, in)
	if err != nil {
		return err
	}
	if there {
		return compare(owner, by)
	}
	text, err := json.Marshal(by)
	if err != nil {
		return err
	}
	created, err := in.Create(ctx, ClaimName, append(text, '\n'))
	if err != nil {
		return fmt.Errorf("write %s: %w", ClaimName, err)
	}
	if created {
		return nil
	}
	// Somebody else was here meanwhile.
	if owner, _, err = OwnerOf(ctx, in); err != nil {
		return err
	}
	return compare(owner, by)
}

func parse(text []byte) (owner Owner, err error) {
	if err = json.Unmarshal(text, &owner); err != nil {
		err = fmt.Errorf("%s: found %.100q, expected the topic that the archive is of: %w", ClaimName, text, err)
	}
	return owner, err
}

func compare(owner, by Owner) error {
	if owner != by {
		return fmt.Errorf("%s: found the archive of %s with the id %s, expected %s with the id %s: an archive needs a directory or prefix of its own, and a topic that was created again a new one",
			ClaimName, owner.Topic, owner.ID, by.Topic, by.ID)
	}
	return nil
}
