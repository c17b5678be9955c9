package objects

import (
	"context"
	"errors"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
)

// Store keeps objects by their names, whose steps are separated by slashes.
type Store interface {
	// Put stores an object in place of any other of its name. It is durable when nil is
	// returned; whoever reads sees all of it or nothing.
	Put(ctx context.Context, name string, body []byte) error
	// Create is Put where there is no object of the name; false: there is. A bucket whose
	// server does not know the condition replaces it.
	Create(ctx context.Context, name string, body []byte) (created bool, err error)
	// Get returns an object; false when there is none.
	Get(ctx context.Context, name string) (body []byte, there bool, err error)
	// Has reports whether there is an object.
	Has(ctx context.Context, name string) (bool, error)
	// List returns what stands directly below a directory ("": all of the store), ascending
	// by name; nothing of one that is not there.
	List(ctx context.Context, directory string) ([]Entry, error)
}

// Entry is what a directory has: an object, or another directory.
type Entry struct {
	Name     string // from the root of the store; that of a directory ends with a slash
	Modified time.Time
}

// Place says where an archive is: a directory, or a bucket. Places can be compared.
type Place struct {
	Directory string

	Bucket   string
	Endpoint string // URL, http or https; empty: Amazon's
	Region   string // empty: as the endpoint says
	Prefix   string // of all names; without a slash at its end
	// AccessKey and SecretKey; empty: those that the environment, a file of Amazon's tools or
	// the machine's role gives.
	AccessKey, SecretKey string
}

// PlaceOf is where a destination's archive is.
func PlaceOf(a *workspace.Archive) Place {
	return Place{
		Directory: a.Directory, Bucket: a.Bucket, Endpoint: a.Endpoint, Region: a.Region, Prefix: a.Prefix,
		AccessKey: a.AccessKey.Reveal(), SecretKey: a.SecretKey.Reveal(),
	}
}

// String names the place for people. It has no secret.
func (p Place) String() string {
	if p.Directory != "" {
		return p.Directory
	}
	at := "s3://" + p.Bucket
	if p.Prefix != "" {
		at += "/" + p.Prefix
	}
	if p.Endpoint != "" {
		at += " at " + p.Endpoint
	}
	return at
}

// Open returns the store of a place. Nothing is read or written yet.
func Open(p Place) (Store, error) {
	switch {
	case p.Directory != "" && p.Bucket != "":
		return nil, errors.New("the archive has a directory and a bucket, expected one of them")
	case p.Directory != "":
		return &directory{root: p.Directory}, nil
	case p.Bucket != "":
		return openBucket(p)
	default:
		return nil, errors.New("the archive has no place, expected a directory or a bucket")
	}
}
