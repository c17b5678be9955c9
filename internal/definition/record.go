package definition

import (
	"errors"
	"fmt"

	"github.com/anabranch/anabranch/internal/document"
	"github.com/anabranch/anabranch/schemas"
)

// ParseAudience reads what [Audience.JSON] wrote. What has a key or a word that this
// release does not know is not read by half, since that would be another definition: the
// error is a [*schemas.VersionError]. No error shows a value.
func ParseAudience(text []byte) (Audience, error) {
	r := new(reader)
	p, err := r.json(text)
	if err != nil {
		return Audience{}, err
	}
	a := r.audience(p)
	return a, r.err()
}

// ParseTrait is [ParseAudience] of a computed trait.
func ParseTrait(text []byte) (Trait, error) {
	r := new(reader)
	p, err := r.json(text)
	if err != nil {
		return Trait{}, err
	}
	t := r.trait(p)
	return t, r.err()
}

func (r *reader) json(text []byte) (place, error) {
	parsed, err := document.ParseJSON(text)
	if err != nil {
		return place{}, err
	}
	if parsed == nil {
		return place{}, errors.New("expected an object")
	}
	return place{r, document.Tree(parsed), ""}, nil
}

func (r *reader) err() error {
	switch {
	case len(r.found) == 0:
		return nil
	case r.unknown:
		return &schemas.VersionError{Version: schemas.JSONVersion + 1, Understood: schemas.JSONVersion}
	default:
		return fmt.Errorf("%s: expected %s", r.found[0].Path, r.found[0].Want)
	}
}
