package workspace

import (
	"slices"

	"github.com/anabranch/anabranch/schemas"
)

// Place is where a secret of a destination stands. Headers belong to an endpoint by its
// URL and not by its number in the list, and the keys of an archive to an object store.
type Place struct {
	Destination string // its id
	URL, Header string // of a header: its endpoint's, and its name; of an archive: its endpoint, and archive/<key>; empty: the shared secret
}

// MapSecrets returns the destination with each of its secrets replaced by what to gives
// for it. Empty ones are none.
func (d *Destination) MapSecrets(to func(Place, schemas.Secret) schemas.Secret) *Destination {
	c := d.clone()
	replace := func(at Place, secret *schemas.Secret) {
		if *secret != "" {
			*secret = to(at, *secret)
		}
	}
	replace(Place{Destination: d.ID}, &c.SharedSecret)
	for _, e := range c.Endpoints {
		for i := range e.Headers {
			replace(Place{d.ID, e.URL, e.Headers[i].Name}, &e.Headers[i].Value)
		}
	}
	if a := c.Archive; a != nil {
		replace(Place{d.ID, a.Endpoint, "archive/accessKey"}, &a.AccessKey)
		replace(Place{d.ID, a.Endpoint, "archive/secretKey"}, &a.SecretKey)
	}
	return c
}

// Secrets returns the secrets of the destination, by where they stand.
func (d *Destination) Secrets() map[Place]schemas.Secret {
	all := make(map[Place]schemas.Secret)
	d.MapSecrets(func(at Place, s schemas.Secret) schemas.Secret {
		all[at] = s
		return s
	})
	return all
}

// Sealed tells whether a secret of the destination is sealed: who lacks the key must
// deliver nothing to it.
func (d *Destination) Sealed() bool {
	sealed := func(s schemas.Secret) bool {
		_, is := s.Sealed()
		return is
	}
	if a := d.Archive; a != nil && (sealed(a.AccessKey) || sealed(a.SecretKey)) {
		return true
	}
	return sealed(d.SharedSecret) || slices.ContainsFunc(d.Endpoints, func(e Endpoint) bool {
		return slices.ContainsFunc(e.Headers, func(h Header) bool { return sealed(h.Value) })
	})
}

// MapSecrets returns the snapshot with each secret of its destinations replaced.
func (s *Snapshot) MapSecrets(to func(Place, schemas.Secret) schemas.Secret) *Snapshot {
	c := *s
	c.destByID = make(map[string]*Destination, len(s.destinations))
	for _, d := range s.destinations {
		c.destByID[d.ID] = d.MapSecrets(to)
	}
	c.destinations = sortedValues(c.destByID)
	c.listeners = make(map[string][]*Destination, len(s.listeners))
	for source, all := range s.listeners {
		c.listeners[source] = make([]*Destination, len(all))
		for i, d := range all {
			c.listeners[source][i] = c.destByID[d.ID]
		}
	}
	c.classify()
	return &c
}
